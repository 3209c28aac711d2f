// Tests the proxy with ethers and viem: node clients.mjs BASE_URL KEY. Prints one line per check.
import assert from "node:assert/strict";
import { FetchRequest, JsonRpcProvider, Wallet, parseEther } from "ethers";
import { createPublicClient, createWalletClient, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { base } from "viem/chains";

const [baseUrl, key] = process.argv.slice(2);
const url = `${baseUrl}/crypto/rpc/base-mainnet`;
const headers = { authorization: `Bearer ${key}` };
// Well-known keys of anvil's first two accounts, which have test money.
const FIRST = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const SECOND = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
const TO = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

async function check(name, work) {
  await work();
  console.log(`ok ${name}`);
}

await check("ethers reads, batches and sends", async () => {
  const request = new FetchRequest(url);
  request.setHeader("authorization", headers.authorization);
  // ethers caches responses for 250 ms, which would hide the payment.
  const provider = new JsonRpcProvider(request, 8453, { staticNetwork: true, cacheTimeout: -1 });
  const [block, balance, fees] = await Promise.all([
    provider.getBlockNumber(),
    provider.getBalance(TO),
    provider.getFeeData(),
  ]);
  assert.ok(0 <= block && fees.gasPrice !== null);
  const wallet = new Wallet(FIRST, provider);
  const sent = await wallet.sendTransaction({ to: TO, value: parseEther("1") });
  const receipt = await sent.wait();
  assert.equal(receipt.status, 1);
  assert.equal(await provider.getBalance(TO), balance + parseEther("1"));
  await assert.rejects(provider.send("eth_accounts", []));
  provider.destroy();
});

await check("viem reads, batches and sends", async () => {
  const transport = http(url, { batch: true, fetchOptions: { headers }, retryCount: 0 });
  const reader = createPublicClient({ chain: base, transport });
  assert.equal(await reader.getChainId(), 8453);
  const [number, balance] = await Promise.all([reader.getBlockNumber(), reader.getBalance({ address: TO })]);
  assert.ok(0n <= number);
  const account = privateKeyToAccount(SECOND);
  const writer = createWalletClient({ account, chain: base, transport });
  const hash = await writer.sendTransaction({ to: TO, value: 1n });
  const receipt = await reader.waitForTransactionReceipt({ hash });
  assert.equal(receipt.status, "success");
  assert.equal(await reader.getBalance({ address: TO }), balance + 1n);
});

await check("a repeated key is answered again", async () => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] });
  const keyed = { ...headers, "content-type": "application/json", "idempotency-key": "e2e-1" };
  const first = await fetch(url, { method: "POST", headers: keyed, body });
  const second = await fetch(url, { method: "POST", headers: keyed, body });
  assert.equal(first.headers.get("idempotent-replayed"), null);
  assert.equal(second.headers.get("idempotent-replayed"), "true");
  assert.equal(await second.text(), await first.text());
  assert.equal(first.headers.get("x-service-rpc-credits"), "20");
});
