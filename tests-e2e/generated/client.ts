// Calls with the types that openapi-typescript generates from the document; the compiler checks them.

import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

const client = createClient<paths>({
  baseUrl: process.env.API_URL!,
  headers: { Authorization: `Bearer ${process.env.API_KEY}` },
});

const listed = await client.GET("/models", { params: { query: { type: "all" } } });
const text = listed.data?.data.find((model) => model.id === "small-text");
const context = text?.type === "text" ? text.model_spec.availableContextTokens : 0;

const answer = await client.POST("/chat/completions", {
  body: { model: "small-text", messages: [{ role: "user", content: "Hi" }] },
});
const said = typeof answer.data === "object" ? answer.data.choices[0]?.message.content : "";

const refused = await client.POST("/chat/completions", { body: { model: "small-text", messages: [] } });
const status = refused.response.status;

console.log(JSON.stringify({ context, said, status }));
