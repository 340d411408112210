/** What a release needs: the entry of the ACP registry, and workflows that agree with deno.json. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../tools/json.ts";
import { TARGETS } from "./compile.ts";
import { member } from "./helpers/frames.ts";
import { startAgent } from "./helpers/start_agent.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const config = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
const folder = `${ROOT}.github/registry/dsh-acp`;
/** As the release workflow fills it in. */
const entry: JsonObject = JSON.parse(
  (await Deno.readTextFile(`${folder}/agent.json`)).replaceAll("OWNER/REPO", "an-owner/a-repo"),
);
const icon = await Deno.readTextFile(`${folder}/icon.svg`);

const FIELDS = [
  "id",
  "name",
  "version",
  "description",
  "repository",
  "website",
  "authors",
  "license",
  "license_url",
  "distribution",
];
const PLATFORMS = ["darwin", "linux", "windows"]
  .flatMap((os) => [`${os}-aarch64`, `${os}-x86_64`]);

/** The rules of agentclientprotocol/registry: agent.schema.json, and its checks of versions. */
function entryProblems(value: JsonObject, directory: string): string[] {
  const problems: string[] = [];
  const rule = (holds: boolean, problem: string) => holds || problems.push(problem);
  const isText = (text: unknown): text is string => typeof text === "string" && text !== "";
  const { id, name, version, description, repository } = value;
  for (const key of Object.keys(value)) rule(FIELDS.includes(key), `"${key}" is not a field`);
  rule(isText(id) && /^[a-z][a-z0-9-]*$/.test(id), "id has another form");
  rule(id === directory, "id is not the name of the folder");
  rule(isText(name), "name is missing");
  rule(isText(version) && /^\d+\.\d+\.\d+$/.test(version), "version is not x.y.z");
  rule(isText(description), "description is missing");
  rule(repository === undefined || URL.canParse(String(repository)), "repository is no URL");
  const { binary, ...others } = member(value, "distribution");
  rule(Object.keys(others).every((key) => ["npx", "uvx"].includes(key)), "distribution is unknown");
  const targets = Object.entries(member(binary));
  for (const os of ["darwin", "linux", "windows"]) {
    rule(targets.some(([platform]) => platform.startsWith(`${os}-`)), `${os} is missing`);
  }
  for (const [platform, target] of targets) {
    const { archive, cmd, args, env, ...unknown } = member(target);
    rule(PLATFORMS.includes(platform), `"${platform}" is no platform`);
    rule(Object.keys(unknown).length === 0, `${platform}: unknown fields`);
    rule(isText(archive) && URL.canParse(archive), `${platform}: archive is no URL`);
    rule(/\.(zip|tar\.gz|tgz|tar\.bz2|tbz2)$/.test(String(archive)), `${platform}: archive's type`);
    rule(!String(archive).includes("/latest/"), `${platform}: archive has no version`);
    rule(
      String(archive).includes(`/releases/download/v${version}/`),
      `${platform}: archive is of another version`,
    );
    rule(isText(cmd), `${platform}: cmd is missing`);
    rule(args === undefined || Array.isArray(args), `${platform}: args is no list`);
    rule(env === undefined || Object.values(member(env)).every(isText), `${platform}: env`);
  }
  return problems;
}

/** The registry's rules for icons: 16 by 16, one colour, which is the theme's. */
function iconProblems(svg: string): string[] {
  const problems: string[] = [];
  const rule = (holds: boolean, problem: string) => holds || problems.push(problem);
  const [root = ""] = /^<svg\s[^>]*>/.exec(svg) ?? [];
  rule(root !== "" && svg.trimEnd().endsWith("</svg>"), "the root is not <svg>");
  rule(/\swidth="16"/.test(root) && /\sheight="16"/.test(root), "it is not 16 by 16");
  rule(/\sviewBox="0 0 16 16"/.test(root), "its viewBox is another");
  rule(!svg.includes("<!--"), "it has a comment");
  rule(!/<style|\sstyle=/.test(svg), "it has styles, which are not read here");
  const colours = [...svg.matchAll(/\s(?:fill|stroke)="([^"]*)"/g)].map(([, colour]) => colour);
  rule(colours.includes("currentColor"), "it does not use currentColor");
  rule(
    colours.every((colour) => ["currentColor", "none", "inherit"].includes(colour ?? "")),
    "it has a colour of its own",
  );
  return problems;
}

Deno.test("the entry of the ACP registry obeys the registry's rules", () => {
  assertEquals(entryProblems(entry, "dsh-acp"), []);
  assertEquals(iconProblems(icon), []);
});

Deno.test("the entry names this version and the executables that are built", () => {
  assertEquals(entry["version"], config.version);
  const binary = member(entry, "distribution", "binary");
  assertEquals(Object.keys(binary).sort(), TARGETS.map(({ platform }) => platform).sort());
  for (const { platform, file } of TARGETS) {
    const { archive, cmd } = member(binary, platform);
    assertEquals(cmd, `./${file}`);
    const type = platform.startsWith("windows-") ? "zip" : "tar.gz";
    assertEquals(String(archive).split("/").at(-1), `dsh-acp-${platform}.${type}`);
  }
});

Deno.test("the rules of the registry's entry can fail, each by itself", () => {
  const target = { archive: "https://h/o/r/releases/download/v1.0.0/a.zip", cmd: "./a" };
  const binary = { "darwin-aarch64": target, "linux-x86_64": target, "windows-x86_64": target };
  const good = { id: "a", name: "A", version: "1.0.0", description: "d", distribution: { binary } };
  assertEquals(entryProblems(good, "a"), []);
  const breaking: readonly JsonObject[] = [
    { ...good, name: "" },
    { ...good, description: "" },
    { ...good, colour: "red" },
    { ...good, repository: "nowhere" },
    { ...good, distribution: { binary, deno: {} } },
    { ...good, distribution: { binary: { ...binary, "plan9-x86_64": target } } },
    { ...good, distribution: { binary: { "darwin-aarch64": target, "linux-x86_64": target } } },
    { ...good, distribution: { binary: { ...binary, "linux-x86_64": { ...target, cmd: "" } } } },
    { ...good, distribution: { binary: { ...binary, "linux-x86_64": { ...target, size: 1 } } } },
    { ...good, distribution: { binary: { ...binary, "linux-x86_64": { ...target, args: "a" } } } },
    ...["https://h/o/r/releases/download/v1.0.0/a.deb", "https://h/v2/a.zip"].map((archive) => ({
      ...good,
      distribution: { binary: { ...binary, "linux-x86_64": { ...target, archive } } },
    })),
  ];
  for (const value of breaking) {
    assertEquals(entryProblems(value, "a").length, 1, JSON.stringify(value));
  }
  assertEquals(entryProblems(good, "b"), ["id is not the name of the folder"]);
  assertEquals(entryProblems({ ...good, id: "A" }, "A"), ["id has another form"]);
  for (const colour of ["red", "#000"]) {
    assertEquals(iconProblems(icon.replace("none", colour)), ["it has a colour of its own"]);
  }
  assertEquals(iconProblems(icon.replace('width="16"', 'width="24"')), ["it is not 16 by 16"]);
});

Deno.test("initialize answers the registry's check of authentication", async () => {
  await using agent = await startAgent({ initialize: false });
  const answer = await agent.client.call("initialize", {
    protocolVersion: 1,
    clientInfo: { name: "registry", version: "1.0.0" },
    clientCapabilities: {
      terminal: true,
      fs: { readTextFile: true, writeTextFile: true },
      _meta: { terminal_output: true, "terminal-auth": true },
    },
  });
  const methods = answer["authMethods"] as JsonObject[];
  // A method that names no type is the agent's own.
  const types = methods.map(({ type }) => type ?? "agent");
  assert(types.some((type) => type === "agent" || type === "terminal"), JSON.stringify(methods));
});

async function workflow(name: string): Promise<string> {
  return await Deno.readTextFile(`${ROOT}.github/workflows/${name}.yml`);
}

Deno.test({
  name: "the release workflows stop when the tag is not the version of deno.json",
  ignore: Deno.build.os === "windows",
  async fn() {
    for (const name of ["publish", "binaries"]) {
      const text = await workflow(name);
      const [, check = ""] = /run: (test .*deno\.json.*)$/m.exec(text) ?? [];
      assertStringIncludes(check, "GITHUB_REF_NAME");
      const passes = async (tag: string): Promise<boolean> => {
        const { success } = await new Deno.Command("bash", {
          args: ["-c", check],
          cwd: ROOT,
          env: { GITHUB_REF_NAME: tag },
          stdin: "null",
        }).output();
        return success;
      };
      assert(await passes(`v${config.version}`), name);
      assert(!await passes("v9.9.9"), name);
      assert(!await passes(config.version), name);
    }
  },
});

Deno.test("the workflows run one version of Deno, and publish after the gate", async () => {
  const versions = await Promise.all(["ci", "publish", "binaries"].map(async (name) => {
    return /DENO_VERSION: (\S+)/.exec(await workflow(name))?.[1];
  }));
  assertEquals(new Set(versions).size, 1, versions.join());
  const publish = await workflow("publish");
  assertStringIncludes(publish, "id-token: write");
  const [gate, end] = [publish.indexOf("deno task ok"), publish.indexOf("run: deno publish")];
  assert(0 < gate && gate < end, "the gate comes first");
});

Deno.test("every entry point has module documentation with an example", async () => {
  for (const path of Object.values<string>(config.exports)) {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["doc", "--json", path],
      cwd: ROOT,
      stdin: "null",
      stderr: "null",
    }).output();
    const { nodes } = JSON.parse(new TextDecoder().decode(stdout)) as { nodes: JsonObject };
    const doc = member(Object.values(nodes)[0], "module_doc");
    assert(String(doc["doc"] ?? "").length > 50, path);
    assertStringIncludes(JSON.stringify(doc), '"kind":"example"', path);
  }
});

Deno.test("the README's tables hold: tests that exist, and this program's own answers", async () => {
  const readme = await Deno.readTextFile(`${ROOT}README.md`);
  const links = [...readme.matchAll(/\]\((tests\/[^)]+)\)/g)].map(([, path]) => String(path));
  assert(links.length > 15, `${links.length} links`);
  for (const path of links) await Deno.stat(ROOT + path);

  await using agent = await startAgent({ initialize: false });
  const { agentCapabilities, agentInfo } = await agent.client.call("initialize", {
    protocolVersion: 1,
    clientCapabilities: { terminal: true, _meta: { terminal_output: true } },
  });
  assertStringIncludes(readme, `| DSH ${member(agentInfo)["version"]} `);
  const rows = [...readme.matchAll(/^\| `(\w+(?:\.\w+)?)` +\| (yes|no) /gm)];
  assert(rows.length > 8, `${rows.length} rows`);
  for (const [, path = "", claim] of rows) {
    const keys = path.split(".");
    const value = member(agentCapabilities, ...keys.slice(0, -1))[keys.at(-1) ?? ""];
    assertEquals(claim, value === undefined || value === false ? "no" : "yes", path);
  }
});
