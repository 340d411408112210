import { existing, isInside } from "./_protected_paths.ts";

/**
 * Where services listen that start programs for whoever may connect: containers, the session bus
 * (`systemd-run --user`), terminal multiplexers, editors. A read-only mount does not keep a process
 * from connecting to a socket.
 */
const SERVICES = [
  "/run/user",
  "/run/dbus",
  "/run/systemd/private",
  "/run/docker.sock",
  "/run/docker",
  "/run/containerd",
  "/run/crio",
  "/run/podman",
  "/run/buildkit",
  "/run/libvirt",
  "/run/incus",
  "/run/lxd.socket",
  "/run/screen",
  "/run/snapd.socket",
  "/var/lib/incus",
  "/var/lib/lxd",
  "/var/snap/lxd",
];

/** Where programs of the user put such sockets under names of their own. */
const SHARED = ["/tmp", "/var/tmp"];

/** How many sockets of the user's programs are covered, one mount each. */
const MAX_SOCKETS = 64;

/** What commands see in place of the machine's services. */
export interface ServiceMasks {
  /** Folders and files over which nothing is to be seen, outermost first. */
  readonly masked: readonly string[];
  /** What is shown again within them. */
  readonly kept: readonly string[];
}

/**
 * Finds the sockets that commands of a sandboxed mode must not reach.
 *
 * Kept are agents that answer with signatures and start nothing: that of SSH, whose socket
 * `SSH_AUTH_SOCK` names, and GnuPG's. Abstract sockets have no path: only taking the network away
 * closes these.
 *
 * @param writable Folders of the session: what listens there is its own.
 * @param env The user's own environment.
 */
export function serviceMasks(
  writable: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ServiceMasks {
  const runtime = env["XDG_RUNTIME_DIR"];
  const kept = [env["SSH_AUTH_SOCK"], runtime && `${runtime}/gnupg`]
    .map((path) => path?.startsWith("/") ? existing(path) : undefined)
    .filter((path) => path !== undefined);
  const services = SERVICES.map(existing).filter((path) => path !== undefined);
  const sockets = userSockets().filter((path) =>
    !kept.includes(path) && !writable.some((root) => isInside(path, root))
  );
  return {
    masked: [...new Set([...services, ...sockets])],
    kept: kept.filter((path) => services.some((service) => isInside(path, service))),
  };
}

/** The sockets in shared folders that somebody listens on (proc_pid_net(5), `unix`). */
function userSockets(): string[] {
  let table: string;
  try {
    table = Deno.readTextFileSync("/proc/net/unix");
  } catch {
    // Not a Linux with /proc, or not to be read: then the folders are all there is to go by.
    return [];
  }
  const paths = table.split("\n").map((line) => line.slice(line.indexOf("/")).trim())
    .filter((path) => SHARED.some((folder) => path.startsWith(`${folder}/`)));
  return [...new Set(paths)].map((path) => existing(path)).filter((path) => path !== undefined)
    .slice(0, MAX_SOCKETS);
}
