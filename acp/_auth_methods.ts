import type { AuthMethod } from "@agentclientprotocol/sdk";

/** How the agent comes by a key, for `initialize`. */
export const AUTH_METHODS: readonly AuthMethod[] = [{
  type: "terminal",
  id: "login",
  name: "Log in",
  description: "Asks for a provider's key in a terminal and stores it for you alone",
  args: ["login"],
}, {
  id: "api-key",
  name: "API key in the environment",
  description:
    "Set DEEPSEEK_API_KEY or ANTHROPIC_API_KEY, or OPENAI_BASE_URL, DSH_MODEL and, where the " +
    "server wants one, OPENAI_API_KEY, for the agent",
}];
