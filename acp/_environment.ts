/** The environment variables the program knows by name. */
import { PROVIDERS } from "../session/model/known_models.ts";

/** What the program reads itself. */
const OWN: readonly string[] = [
  "HOME",
  "USERPROFILE",
  "LOCALAPPDATA",
  "XDG_DATA_HOME",
  "DENO_KV_ACCESS_TOKEN",
  "DSH_CONTEXT_WINDOW",
  "DSH_KV",
  "DSH_KV_TIMEOUT",
  "DSH_LOG",
  "DSH_MODEL",
  "DSH_MODELS",
  "DSH_PERMISSION_MODE",
  "DSH_PLUGINS",
  "DSH_QUESTION_TIMEOUT",
  "DSH_SANDBOX_NETWORK",
  "DSH_SMALL_MODEL",
  "DSH_WEB_FETCH",
  ...Object.values(PROVIDERS).flatMap(({ keyVariable, baseUrlVariable }) => [
    keyVariable,
    baseUrlVariable,
  ]),
];

/** What commands are better off with. */
const FOR_COMMANDS: readonly string[] = [
  "PATH",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "LC_ALL",
  "LC_CTYPE",
  "TZ",
  "TERM",
  "COLORTERM",
  "TMPDIR",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "SSL_CERT_DIR",
  "SSL_CERT_FILE",
];

/** All of them: what to grant where the environment is granted by name. */
export const KNOWN_VARIABLES: readonly string[] = [...OWN, ...FOR_COMMANDS];
