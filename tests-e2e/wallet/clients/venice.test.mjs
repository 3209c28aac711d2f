// Tests an unmodified client of this family of APIs: it tops up by itself, chats, and reads its history.
import assert from "node:assert/strict";
import { test } from "node:test";
import { VeniceClient } from "venice-x402-client";

test("venice-x402-client tops up when it is told 402, and then asks", async () => {
  const apiUrl = new URL(process.env.API).origin;
  const client = new VeniceClient(process.env.EVM_KEY, { apiUrl, autoTopUp: { enabled: true, amount: 7.5 } });
  const messages = [{ role: "user", content: "Say hello." }];
  const answer = await client.chat({ model: "default", messages });
  assert.equal(typeof answer.choices[0].message.content, "string");
  let text = "";
  for await (const chunk of client.chatStream({ model: "default", messages })) text += chunk;
  assert.ok(0 < text.length);
  await client.getBalance();
  assert.ok(7.4 < client.balance && client.balance < 7.5, String(client.balance));
  const { data } = await client.request(`/api/v1/x402/transactions/${client.address}`);
  assert.deepEqual(
    data.transactions.map(({ type }) => type),
    ["CHARGE", "CHARGE", "TOP_UP"],
  );
  assert.equal(data.transactions[2].amount, 7.5);
});
