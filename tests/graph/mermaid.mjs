// Reads a flowchart from standard input with Mermaid itself, and tells its vertices and edges.
import { readFileSync } from "node:fs";
import { JSDOM } from "jsdom";

const { window } = new JSDOM("");
globalThis.window = window;
globalThis.document = window.document;
const { default: mermaid } = await import("mermaid");

// Mermaid holds entities in a form of its own until it draws.
const decoded = (text) =>
  (text ?? "").replace(/ﬂ°°(\d+)¶ß/g, (_, code) => String.fromCodePoint(Number(code)));

const text = readFileSync(0, "utf8");
await mermaid.parse(text);
const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
const vertices = [...db.getVertices().values()].map((vertex) => [vertex.id, decoded(vertex.text)]);
const edges = db.getEdges().map((edge) => [edge.start, edge.end, decoded(edge.text)]);
console.log(JSON.stringify({ vertices, edges }));
