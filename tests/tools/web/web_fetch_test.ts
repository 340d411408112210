import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { ToolResult } from "../../../tools/tool.ts";
import { type WebFetchOptions, webFetchTool } from "../../../tools/web_fetch.ts";

/** A web server on this machine. */
class Site implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly requests: Request[] = [];
  #arrived: () => void = () => {};

  constructor(respond: (path: string, request: Request) => Response | Promise<Response>) {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
      this.requests.push(request);
      this.#arrived();
      return respond(new URL(request.url).pathname, request);
    });
  }

  /** Resolves when the request of this index (from 0) is there. */
  async request(index: number): Promise<void> {
    while (this.requests.length <= index) {
      const next = Promise.withResolvers<void>();
      this.#arrived = next.resolve;
      await next.promise;
    }
  }

  /** Its URL under a name. */
  at(path: string, host = "127.0.0.1"): string {
    return `http://${host}:${this.#server.addr.port}${path}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

async function fetched(
  url: string,
  options: WebFetchOptions = {},
  signal = new AbortController().signal,
): Promise<ToolResult> {
  return await webFetchTool({ privateAddresses: true, ...options }).execute({ url }, {
    sessionId: "s",
    callId: "c",
    cwd: "/",
    signal,
    policy: {
      mode: "workspace-write",
      writableRoots: [],
      protectedPaths: [],
      network: "on",
      enforcement: "sandbox",
    },
    output: () => {},
  });
}

function textOf({ content: [first] }: ToolResult): string {
  return first?.type === "text" ? first.text : "";
}

function html(body: string, headers: HeadersInit = {}): Response {
  return new Response(body, {
    headers: { "content-type": "text/html; charset=utf-8", ...headers },
  });
}

Deno.test("a page of HTML comes back as Markdown with whole links, without scripts and styles", async () => {
  await using site = new Site(() =>
    html(
      "<title>T</title><style>a{}</style><script>evil()</script><h1>Über</h1>" +
        '<p>A <b>bold</b> <a href="/x">link</a></p><pre><code class="language-ts">let a;</code></pre>' +
        "<table><tr><th>a</th></tr><tr><td>1</td></tr></table>",
    )
  );
  const text = textOf(await fetched(site.at("/doc")));
  for (
    const part of [
      site.at("/doc"),
      "# Über",
      `A **bold** [link](${site.at("/x")})`,
      "```ts\nlet a;\n```",
      "| a |",
    ]
  ) assertStringIncludes(text, part);
  assert(!/evil|a\{\}/.test(text), text);
});

Deno.test("text comes back as it is, in the character set and compression it is sent in", async () => {
  const gzip = new Blob(['{"a":1}']).stream().pipeThrough(new CompressionStream("gzip"));
  const packed = new Uint8Array(await new Response(gzip).arrayBuffer());
  const pages: Record<string, () => Response> = {
    "/json": () =>
      new Response(packed, {
        headers: { "content-type": "application/json", "content-encoding": "gzip" },
      }),
    "/latin": () =>
      new Response(new Uint8Array([0xe9]), {
        headers: { "content-type": "text/plain; charset=iso-8859-1" },
      }),
    "/strange": () =>
      new Response("a", { headers: { "content-type": "text/plain; charset=x-no" } }),
    "/empty": () => new Response(null, { status: 204 }),
  };
  await using site = new Site((path) => pages[path]!());
  const found = await Promise.all(
    Object.keys(pages).map(async (path) => textOf(await fetched(site.at(path)))),
  );
  assertEquals(found.map((text) => text.split("\n\n")[1]), ['{"a":1}', "é", "a", ""]);
});

Deno.test("what cannot be read is an error that says why", async () => {
  const pages: Record<string, () => Response> = {
    "/png": () => new Response("x", { headers: { "content-type": "image/png" } }),
    "/gone": () =>
      new Response("<p>Not <b>here</b></p>", {
        status: 404,
        headers: { "content-type": "text/html" },
      }),
    "/brotli": () => html("x", { "content-encoding": "zstd" }),
    "/long": () => html("x".repeat(5 * 1024 * 1024 + 1)),
    "/loop": () => new Response(null, { status: 302, headers: { location: "/loop" } }),
    "/file": () => new Response(null, { status: 302, headers: { location: "file:///etc/passwd" } }),
  };
  await using site = new Site((path) => pages[path]!());
  const rules = [
    ["/png", "is image/png, which is no text"],
    ["/gone", "answered 404:\nNot **here**"],
    ["/brotli", 'compressed with "zstd"'],
    ["/long", "longer than 5242880 bytes"],
    ["/loop", "redirects more than 5 times"],
    ["/file", 'redirects to "file:///etc/passwd", which is no web page'],
  ] as const;
  for (const [path, rule] of rules) {
    const result = await fetched(site.at(path));
    assertEquals(result.isError, true, path);
    assertStringIncludes(textOf(result), rule);
  }
});

Deno.test("a small body that unpacks to a large one is not read to its end", async () => {
  const bomb = new Blob([new Uint8Array(50 * 1024 * 1024)]).stream()
    .pipeThrough(new CompressionStream("gzip"));
  const packed = new Uint8Array(await new Response(bomb).arrayBuffer());
  await using site = new Site(() =>
    html("", {}) && new Response(packed, {
      headers: { "content-type": "text/plain", "content-encoding": "gzip" },
    })
  );
  assertStringIncludes(textOf(await fetched(site.at("/"))), "longer than 5242880 bytes");
});

Deno.test("redirects are followed on the same host, and named where they lead to another", async () => {
  await using other = new Site(() => html("secret"));
  await using site = new Site((path) =>
    path === "/end" ? html("<p>Here</p>") : new Response(null, {
      status: 301,
      headers: { location: path === "/away" ? other.at("/x") : "/end" },
    })
  );
  assertEquals(textOf(await fetched(site.at("/start"))), `${site.at("/end")}\n\nHere`);
  const away = textOf(await fetched(site.at("/away")));
  assertStringIncludes(away, `leads to another host: ${other.at("/x")}`);
  assertEquals(other.requests.length, 0);
});

Deno.test("addresses that are not public are refused, however they are written", async () => {
  await using site = new Site(() => html("secret"));
  const hosts = ["127.0.0.1", "127.1", "0x7f000001", "2130706433", "[::1]", "[::ffff:127.0.0.1]"];
  for (const host of [...hosts, "localhost"]) {
    const result = await fetched(site.at("/", host), { privateAddresses: false });
    assertEquals(result.isError, true, host);
    assertStringIncludes(textOf(result), "the public internet. DSH_WEB_FETCH=any allows it");
  }
  assertEquals(site.requests.length, 0);
});

Deno.test("a name is looked up once, all its addresses count, and the connection is to them", async () => {
  await using site = new Site((_, request) => html(`<p>${request.headers.get("host")}</p>`));
  const mixed = await fetched(site.at("/", "mixed.example"), {
    privateAddresses: false,
    resolve: () => Promise.resolve(["8.8.8.8", "127.0.0.1"]),
  });
  assertStringIncludes(textOf(mixed), "mixed.example is at 127.0.0.1");
  let lookups = 0;
  const url = site.at("/", "no-such-name.example");
  const found = await fetched(url, {
    resolve: () => {
      lookups++;
      return Promise.resolve(["127.0.0.1"]);
    },
  });
  assertEquals(textOf(found), `${url}\n\n${new URL(url).host}`);
  assertEquals(lookups, 1);
  const none = await fetched(url, { resolve: () => Promise.resolve([]) });
  assertStringIncludes(textOf(none), "no-such-name.example has no address");
});

Deno.test("a server that never answers ends with the time limit, or with a cancel", async () => {
  const gate = Promise.withResolvers<void>();
  await using site = new Site(() => gate.promise.then(() => html("")));
  await using _open = { [Symbol.asyncDispose]: () => Promise.resolve(gate.resolve()) };
  const late = await fetched(site.at("/"), { timeoutMs: 200 });
  assertStringIncludes(textOf(late), "did not answer in 0.2 s");
  for (const when of ["before", "while"]) {
    const cancel = new AbortController();
    const pending = fetched(site.at("/"), {}, cancel.signal);
    if (when === "while") await site.request(1);
    cancel.abort();
    assertStringIncludes(textOf(await pending), "it was stopped");
  }
});

Deno.test("authorize() asks for each host, never in full access, and denies what is no web page", async () => {
  const tool = webFetchTool();
  const ask = (url: string, mode: "workspace-write" | "danger-full-access" = "workspace-write") =>
    tool.authorize!({ url }, {
      sessionId: "s",
      callId: "c",
      cwd: "/",
      policy: {
        mode,
        writableRoots: [],
        protectedPaths: [],
        network: "on",
        enforcement: "sandbox",
      },
    });
  assertEquals(await ask("https://a.example:8080/x?y"), {
    type: "ask",
    reason: "it reads https://a.example:8080/x?y",
    scope: { key: "web_fetch:a.example:8080", label: "reading pages of a.example:8080" },
  });
  assertEquals((await ask("https://a.example/", "danger-full-access")).type, "allow");
  for (const url of ["file:///etc/passwd", "a.example", "https://me:pw@a.example/", "data:,x"]) {
    assertEquals((await ask(url, "danger-full-access")).type, "deny", url);
  }
});
