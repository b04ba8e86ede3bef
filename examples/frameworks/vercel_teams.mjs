// Vercel's AI SDK with scripted models and its own spans: `vercel_teams.mjs TEAM INSTRUMENTATION FILE`.
// `legacy` has the spans of versions up to 6, `native` those of OpenTelemetry's conventions.

import { writeFileSync } from "node:fs";
import { generateText, registerTelemetry, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { LegacyOpenTelemetry, OpenTelemetry } from "@ai-sdk/otel";
import { JsonTraceSerializer } from "@opentelemetry/otlp-transformer";
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { z } from "zod";

const [, , , instrumentation, path] = process.argv;

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
provider.register();
registerTelemetry(instrumentation === "legacy" ? new LegacyOpenTelemetry() : new OpenTelemetry());

// A model with this script: texts, or the names and the arguments of tools.
const says = (...script) =>
  new MockLanguageModelV3({
    doGenerate: async () => {
      const line = script.shift();
      const call = Array.isArray(line);
      const said = call
        ? { type: "tool-call", toolCallId: "call", toolName: line[0], input: JSON.stringify(line[1]) }
        : { type: "text", text: line };
      const usage = { inputTokens: { total: 10, noCache: 10 }, outputTokens: { total: 5, text: 5 } };
      const finishReason = { unified: call ? "tool-calls" : "stop", raw: "" };
      return { content: [said], finishReason, usage, warnings: [] };
    },
  });

const telemetry = (functionId) => ({ experimental_telemetry: { isEnabled: true, functionId } });

// A lead has an expert as a tool.
const expert = tool({
  description: "Knows harbours.",
  inputSchema: z.object({ question: z.string() }),
  execute: async ({ question }) =>
    (await generateText({ model: says("9 m."), prompt: question, ...telemetry("expert") })).text,
});
await generateText({
  model: says(["expert", { question: "How deep?" }], "It is 9 m deep."),
  prompt: "How deep is the harbour of Bergen?",
  tools: { expert },
  stopWhen: stepCountIs(5),
  ...telemetry("lead"),
});

await provider.forceFlush();
writeFileSync(path, `${Buffer.from(JsonTraceSerializer.serializeRequest(exporter.getFinishedSpans()))}\n`);
