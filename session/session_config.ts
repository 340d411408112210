/**
 * What a person chooses for a session: the permission preset, the model, its reasoning effort.
 * A choice made while no turn is open is an overlay; the next turn anchors it in the log before
 * it asks a model.
 */
import { isWiderMode, type SandboxMode } from "../tools/sandbox_policy.ts";
import type { EventBody, EventData } from "./events.ts";
import type { SessionFold } from "./fold.ts";
import type { ModelCatalogue, ModelInfo, ModelRef } from "./model/model.ts";
import { PERMISSION_PRESETS, type PermissionPreset } from "./permission_presets.ts";

/** One value of an option. */
export interface OptionChoice {
  /** What is sent back to choose it. */
  readonly value: string;
  /** For a person. */
  readonly name: string;
  /** One sentence for a person. */
  readonly description?: string;
  /** A heading that choices share. */
  readonly group?: string;
}

/** A choice the user has, in words that name no protocol. */
export interface SessionOption {
  /** What is sent back to name it. */
  readonly id: "permission" | "model" | "reasoning_effort";
  /** For a person. */
  readonly name: string;
  /** One sentence for a person. */
  readonly description: string;
  /** ACP's `SessionConfigOptionCategory`. */
  readonly category: "mode" | "model" | "thought_level";
  /** The choice in force. */
  readonly value: string;
  /** What can be chosen; the one in force among them. */
  readonly choices: readonly OptionChoice[];
}

/** A valid choice, or why it was refused, for a person. */
export type OptionChange =
  | { readonly ok: true; readonly choices: Choices }
  | { readonly ok: false; readonly problem: string };

/** What a connection sets for sessions that have chosen nothing. */
export interface SessionDefaults {
  /** The id of a preset. */
  readonly preset: string;
  /** The presets that the granted permissions can honour. */
  readonly presets: readonly PermissionPreset[];
}

/** What was chosen: only the options named here. */
export interface Choices {
  /** The permission preset. */
  readonly preset?: PermissionPreset;
  /** The model, and its reasoning effort. */
  readonly model?: EventData["model/selected"];
}

/** Choices that are not in the log yet, and the events that put them there. */
export interface PendingChoices {
  /** What they were. */
  readonly choices: Choices;
  /** Only what differs from the log: a flip there and back leaves no trace. */
  readonly events: readonly EventBody[];
}

/** The effective choices of one session: overlay, then log, then defaults. */
export class SessionConfig {
  #fold: SessionFold;
  #catalogue: ModelCatalogue;
  #defaults: SessionDefaults;
  #overlay: Choices = {};

  /** `fold` is the session's own and goes on changing. */
  constructor(fold: SessionFold, catalogue: ModelCatalogue, defaults: SessionDefaults) {
    this.#fold = fold;
    this.#catalogue = catalogue;
    this.#defaults = defaults;
  }

  /** The sandbox mode in force: never wider than what the presets offer. */
  get sandboxMode(): SandboxMode {
    const mode = this.#overlay.preset?.sandboxMode ?? this.#fold.sandboxMode ??
      this.#defaultPreset.sandboxMode;
    // The session may come from a process that was granted more.
    return this.#narrowed(mode);
  }

  /** Whether what needs an approval is asked or refused. */
  get approvalPolicy(): "ask" | "never" {
    return this.#overlay.preset?.approvalPolicy ?? this.#fold.approvalPolicy ??
      this.#defaultPreset.approvalPolicy;
  }

  /** The model in force, if any. */
  get model(): ModelRef | undefined {
    return this.#overlay.model ?? this.#fold.model ?? this.#catalogue.defaultModel;
  }

  /** The reasoning effort in force, where the model has one and the user chose it. */
  get reasoningEffort(): string | undefined {
    const effort = (this.#overlay.model ?? this.#fold.model)?.reasoningEffort;
    return this.#modelInfo()?.reasoningEfforts?.includes(effort ?? "") ? effort : undefined;
  }

  /** Whether the model in force takes images. */
  get takesImages(): boolean {
    return this.#modelInfo()?.images ?? false;
  }

  /** All options with their current values. */
  options(): SessionOption[] {
    return [this.#permissionOption(), ...this.#modelOptions()];
  }

  /** Validates a choice. Nothing changes until {@linkcode SessionConfig.choose}. */
  change(id: string, value: string): OptionChange {
    const option = this.options().find((option) => option.id === id);
    if (!option) {
      const known = this.options().map((option) => option.id).join(", ");
      return { ok: false, problem: `configId: must be one of ${known}; got "${id}"` };
    }
    if (value === option.value) return { ok: true, choices: {} };
    if (!option.choices.some((choice) => choice.value === value && value !== CUSTOM)) {
      const known = option.choices.map((choice) => choice.value).filter((v) => v !== CUSTOM);
      const rule = known.length > 0 ? `be one of ${known.join(", ")}` : "stay: there is no other";
      return { ok: false, problem: `value: must ${rule}; got "${value}"` };
    }
    switch (option.id) {
      case "permission": {
        const preset = this.#defaults.presets.find(({ id }) => id === value);
        return { ok: true, choices: preset ? { preset } : {} };
      }
      case "model":
        return { ok: true, choices: { model: parseModelValue(value) } };
      case "reasoning_effort": {
        const { provider, model } = this.model ?? { provider: "", model: "" };
        const effort = value === DEFAULT_EFFORT ? {} : { reasoningEffort: value };
        return { ok: true, choices: { model: { provider, model, ...effort } } };
      }
    }
  }

  /** Puts choices in force. They are an overlay until their events are logged. */
  choose(choices: Choices): void {
    this.#overlay = { ...this.#overlay, ...choices };
  }

  /** The overlay, as events. */
  pending(): PendingChoices {
    const { preset, model } = this.#overlay;
    const events: EventBody[] = [];
    if (preset) events.push(...this.#presetEvents(preset));
    if (model && JSON.stringify(model) !== JSON.stringify(this.#fold.model)) {
      events.push({ type: "model/selected", data: model });
    }
    return { choices: this.#overlay, events };
  }

  /** Forgets the choices whose events are durable now, unless the user chose again meanwhile. */
  anchored({ choices }: PendingChoices): void {
    const { preset, model } = this.#overlay;
    this.#overlay = {
      ...(preset && preset !== choices.preset && { preset }),
      ...(model && model !== choices.model && { model }),
    };
  }

  get #defaultPreset(): PermissionPreset {
    const { preset, presets } = this.#defaults;
    return presets.find(({ id }) => id === preset) ?? presets[0] ?? PERMISSION_PRESETS[0]!;
  }

  #narrowed(mode: SandboxMode): SandboxMode {
    const offered = this.#defaults.presets.map((preset) => preset.sandboxMode);
    if (offered.some((other) => !isWiderMode(mode, other))) return mode;
    return offered.reduce(
      (widest, other) => isWiderMode(other, widest) ? other : widest,
      "read-only",
    );
  }

  #presetEvents(preset: PermissionPreset): EventBody[] {
    const events: EventBody[] = [{ type: "permission/preset", data: { preset: preset.id } }];
    const sandboxMode = this.#fold.sandboxMode ?? this.#defaultPreset.sandboxMode;
    const approvalPolicy = this.#fold.approvalPolicy ?? this.#defaultPreset.approvalPolicy;
    if (preset.sandboxMode !== sandboxMode) {
      events.push({ type: "sandbox/mode", data: { mode: preset.sandboxMode } });
    }
    if (preset.approvalPolicy !== approvalPolicy) {
      events.push({ type: "approval/policy", data: { policy: preset.approvalPolicy } });
    }
    return events.length === 1 ? [] : events;
  }

  #permissionOption(): SessionOption {
    const { presets } = this.#defaults;
    const current = presets.find((preset) =>
      preset.sandboxMode === this.sandboxMode && preset.approvalPolicy === this.approvalPolicy
    );
    const choices: OptionChoice[] = presets.map(({ id, name, description }) => ({
      value: id,
      name,
      description,
    }));
    if (!current) {
      const description = `Sandbox ${this.sandboxMode}, approvals ${this.approvalPolicy}.`;
      choices.push({ value: CUSTOM, name: "Custom", description });
    }
    return {
      id: "permission",
      name: "Permissions",
      description: "What commands and edits may do without being asked about.",
      category: "mode",
      value: current?.id ?? CUSTOM,
      choices,
    };
  }

  #modelOptions(): SessionOption[] {
    const current = this.model;
    if (!current) return [];
    const { models } = this.#catalogue;
    const known = models.some((info) => sameModel(info, current));
    const infos = known ? models : [...models, { ...current, name: current.model }];
    const providers = new Set(infos.map((info) => info.provider));
    const options: SessionOption[] = [{
      id: "model",
      name: "Model",
      description: "The model that answers from the next request on.",
      category: "model",
      value: modelValue(current),
      choices: infos.map((info) => ({
        value: modelValue(info),
        name: info.name,
        ...(info.description !== undefined && { description: info.description }),
        ...(providers.size > 1 && { group: info.provider }),
      })),
    }];
    const efforts = this.#modelInfo()?.reasoningEfforts ?? [];
    if (efforts.length > 0) {
      options.push({
        id: "reasoning_effort",
        name: "Reasoning effort",
        description: "How long the model thinks before it answers.",
        category: "thought_level",
        value: this.reasoningEffort ?? DEFAULT_EFFORT,
        choices: [
          { value: DEFAULT_EFFORT, name: "Default" },
          ...efforts.map((effort) => ({ value: effort, name: capitalise(effort) })),
        ],
      });
    }
    return options;
  }

  #modelInfo(): ModelInfo | undefined {
    const current = this.model;
    return current && this.#catalogue.models.find((info) => sameModel(info, current));
  }
}

const CUSTOM = "custom";
const DEFAULT_EFFORT = "default";

function sameModel(a: ModelRef, b: ModelRef): boolean {
  return a.provider === b.provider && a.model === b.model;
}

function modelValue(ref: ModelRef): string {
  return `${ref.provider}/${ref.model}`;
}

function parseModelValue(value: string): ModelRef {
  const slash = value.indexOf("/");
  return { provider: value.slice(0, slash), model: value.slice(slash + 1) };
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
