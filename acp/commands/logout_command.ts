/** `logout`: removes what `login` stored. */
import { PROVIDERS } from "../../session/model/known_models.ts";
import { removeCredentials } from "../_credentials.ts";
import { credentialsPath } from "../_data_folder.ts";
import type { ProgramCommand } from "./program_command.ts";

/** Without arguments. Nothing to remove is no failure. */
export const logoutCommand: ProgramCommand = async (args, { settings, env, complain }) => {
  if (args.length > 0) {
    complain(`logout takes no arguments; got "${args[0]}"`);
    return 2;
  }
  const path = credentialsPath(settings.dataDirectory);
  complain(await removeCredentials(path) ? `removed "${path}"` : "no keys were stored");
  for (const { keyVariable } of Object.values(PROVIDERS)) {
    if (env[keyVariable]) complain(`${keyVariable} is still set in the environment`);
  }
  return 0;
};
