// Tests top-ups with the x402 project's own clients: each gets a 402, signs and retries.
import assert from "node:assert/strict";
import { test } from "node:test";
import { wrapAxiosWithPayment, x402Client as AxiosClient } from "@x402/axios";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import axios from "axios";
import { api, evmAccount, solanaRpc, solanaSigner } from "./payers.mjs";

test("@x402/fetch tops up with USDC on Base", async () => {
  const client = new x402Client().register("eip155:*", new ExactEvmScheme(evmAccount));
  // Otherwise the client pays at most a dollar.
  client.setSpendControls(false);
  const pay = wrapFetchWithPayment(fetch, client);
  const response = await pay(`${api}/x402/top-up`, { method: "POST" });
  assert.equal(response.status, 200, await response.clone().text());
  const { data } = await response.json();
  assert.equal(data.walletAddress, evmAccount.address.toLowerCase());
  assert.deepEqual([data.amountCredited, data.newBalance], [5, 5]);
  const result = decodePaymentResponseHeader(response.headers.get("PAYMENT-RESPONSE"));
  assert.equal(result.success, true);
  assert.equal(result.network, "eip155:8453");
  assert.match(result.transaction, /^0x[0-9a-f]{64}$/);
});

test("@x402/axios tops up with USDC on Solana", async () => {
  const scheme = new ExactSvmScheme(solanaSigner, { rpcUrl: solanaRpc });
  const client = new AxiosClient().register("solana:*", scheme);
  const pay = wrapAxiosWithPayment(axios.create(), client);
  const { status, data } = await pay.post(`${api}/x402/top-up`);
  assert.equal(status, 200);
  assert.equal(data.data.walletAddress, solanaSigner.address);
  assert.deepEqual([data.data.amountCredited, data.data.newBalance], [5, 5]);
});
