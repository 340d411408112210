/**
 * What a person chooses for a session: the permission preset, the model, its reasoning effort.
 * A choice made while no turn is open is an overlay; the next turn anchors it in the log before
 * it asks a model.
 */
import type { SandboxMode } from "../tools/sandbox_policy.ts";
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

/** Why a choice was refused, for a person; or the events that record it. */
export type OptionChange =
  | { readonly ok: true; readonly events: readonly EventBody[] }
  | { readonly ok: false; readonly problem: string };

/** What a connection sets for sessions that have chosen nothing. */
export interface SessionDefaults {
  /** The id of a preset. */
  readonly preset: string;
  /** The presets that the granted permissions can honour. */
  readonly presets: readonly PermissionPreset[];
}

type Overlay = {
  preset?: PermissionPreset;
  model?: EventData["model/selected"];
};

/** The effective choices of one session: overlay, then log, then defaults. */
export class SessionConfig {
  #fold: SessionFold;
  #catalogue: ModelCatalogue;
  #defaults: SessionDefaults;
  #overlay: Overlay = {};

  /** `fold` is the session's own and goes on changing. */
  constructor(fold: SessionFold, catalogue: ModelCatalogue, defaults: SessionDefaults) {
    this.#fold = fold;
    this.#catalogue = catalogue;
    this.#defaults = defaults;
  }

  /** The sandbox mode in force. */
  get sandboxMode(): SandboxMode {
    return this.#overlay.preset?.sandboxMode ?? this.#fold.sandboxMode ??
      this.#defaultPreset.sandboxMode;
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

  /** All options with their current values. */
  options(): SessionOption[] {
    return [this.#permissionOption(), ...this.#modelOptions()];
  }

  /**
   * Validates a choice. The events record it: the caller appends them at once inside a turn, or
   * calls {@linkcode SessionConfig.defer} outside of one.
   */
  change(id: string, value: string): OptionChange {
    const option = this.options().find((option) => option.id === id);
    if (!option) {
      const known = this.options().map((option) => option.id).join(", ");
      return { ok: false, problem: `configId: must be one of ${known}; got "${id}"` };
    }
    if (value === option.value) return { ok: true, events: [] };
    if (!option.choices.some((choice) => choice.value === value && value !== CUSTOM)) {
      const known = option.choices.map((choice) => choice.value).filter((v) => v !== CUSTOM);
      return { ok: false, problem: `value: must be one of ${known.join(", ")}; got "${value}"` };
    }
    switch (option.id) {
      case "permission":
        return { ok: true, events: this.#presetEvents(value) };
      case "model":
        return { ok: true, events: [{ type: "model/selected", data: parseModelValue(value) }] };
      case "reasoning_effort": {
        const { provider, model } = this.model ?? { provider: "", model: "" };
        const effort = value === DEFAULT_EFFORT ? {} : { reasoningEffort: value };
        return {
          ok: true,
          events: [{ type: "model/selected", data: { provider, model, ...effort } }],
        };
      }
    }
  }

  /** Holds a choice made outside of a turn until the next one anchors it. */
  defer(events: readonly EventBody[]): void {
    for (const event of events) {
      if (event.type === "model/selected") this.#overlay.model = event.data;
      if (event.type === "permission/preset") {
        const preset = this.#defaults.presets.find(({ id }) => id === event.data.preset);
        if (preset) this.#overlay.preset = preset;
      }
    }
  }

  /** The events that anchor the overlay: only what differs from the log. */
  pending(): EventBody[] {
    const { preset, model } = this.#overlay;
    const events: EventBody[] = [];
    if (preset) events.push(...this.#presetEvents(preset.id));
    if (model && JSON.stringify(model) !== JSON.stringify(this.#fold.model)) {
      events.push({ type: "model/selected", data: model });
    }
    return events;
  }

  /** Forgets the overlay, once its events are durable. */
  anchored(): void {
    this.#overlay = {};
  }

  get #defaultPreset(): PermissionPreset {
    const { preset, presets } = this.#defaults;
    return presets.find(({ id }) => id === preset) ?? presets[0] ?? PERMISSION_PRESETS[0]!;
  }

  #presetEvents(id: string): EventBody[] {
    const preset = this.#defaults.presets.find((preset) => preset.id === id);
    if (!preset) return [];
    const events: EventBody[] = [{ type: "permission/preset", data: { preset: id } }];
    const sandboxMode = this.#fold.sandboxMode ?? this.#defaultPreset.sandboxMode;
    const approvalPolicy = this.#fold.approvalPolicy ?? this.#defaultPreset.approvalPolicy;
    if (preset.sandboxMode !== sandboxMode) {
      events.push({ type: "sandbox/mode", data: { mode: preset.sandboxMode } });
    }
    if (preset.approvalPolicy !== approvalPolicy) {
      events.push({ type: "approval/policy", data: { policy: preset.approvalPolicy } });
    }
    // Nothing differs from what is in force: a flip there and back leaves no trace.
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
