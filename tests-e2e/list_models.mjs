// Lists the models with the official Node client: node list_models.mjs BASE_URL KEY
import OpenAI from "openai";

const [baseURL, apiKey] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const ids = [];
for await (const model of client.models.list()) {
  ids.push(model.id);
}
console.log(JSON.stringify(ids));
