import { exportSession } from "../../session/export_session.ts";
import type { StoreCommand } from "./store_command.ts";

/** `export ID`: a session on stdout, as JSON Lines. */
export const exportCommand: StoreCommand = async (args, store, { kv, output, complain }) => {
  const [id] = args;
  if (id === undefined || args.length > 1) {
    complain(`export needs one argument, the id of a session; got ${args.length}`);
    return 2;
  }
  const stream = await exportSession(store, id);
  if (!stream) {
    complain(
      `Cannot export a session as there is none of this id in "${kv}": ${JSON.stringify(id)}`,
    );
    return 1;
  }
  await stream.pipeTo(output, { preventClose: true });
  return 0;
};
