// The reference facilitator over local chains: facilitator.mjs EVM_URL SOLANA_URL. Prints its port.
import http from "node:http";
import { createKeyPairSignerFromPrivateKeyBytes } from "@solana/kit";
import { x402Facilitator } from "@x402/core/facilitator";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { toFacilitatorSvmSigner } from "@x402/svm";
import { ExactSvmScheme } from "@x402/svm/exact/facilitator";
import { createWalletClient, http as transport, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { base } from "viem/chains";

const [evmUrl, solanaUrl] = process.argv.slice(2);
// The second of anvil's well-known accounts, so that its nonces do not conflict with ours.
const account = privateKeyToAccount("0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d");
const client = createWalletClient({ account, chain: base, transport: transport(evmUrl), pollingInterval: 100 }).extend(
  publicActions,
);
const evmSigner = toFacilitatorEvmSigner({
  address: account.address,
  readContract: (call) => client.readContract({ ...call, args: call.args ?? [] }),
  verifyTypedData: (call) => client.verifyTypedData(call),
  writeContract: (call) => client.writeContract({ ...call, args: call.args ?? [] }),
  sendTransaction: (call) => client.sendTransaction(call),
  waitForTransactionReceipt: (call) => client.waitForTransactionReceipt(call),
  getCode: (call) => client.getCode(call),
});
const feePayer = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(8));
const facilitator = new x402Facilitator();
facilitator.register("eip155:8453", new ExactEvmScheme(evmSigner));
facilitator.register(
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  new ExactSvmScheme(toFacilitatorSvmSigner(feePayer, { defaultRpcUrl: solanaUrl })),
);

const write = (value) => JSON.stringify(value, (_, it) => (typeof it === "bigint" ? it.toString() : it));
const answer = async (path, body) => {
  const { paymentPayload, paymentRequirements } = body;
  if (path === "/supported") return facilitator.getSupported();
  if (path === "/verify") return facilitator.verify(paymentPayload, paymentRequirements);
  if (path === "/settle") return facilitator.settle(paymentPayload, paymentRequirements);
  return null;
};
const server = http.createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  let [status, reply] = [200, null];
  try {
    reply = await answer(request.url, body === "" ? {} : JSON.parse(body));
    if (reply === null) status = 404;
  } catch (error) {
    [status, reply] = [500, { error: String(error.message ?? error) }];
  }
  response.writeHead(status, { "content-type": "application/json" }).end(write(reply));
});
server.listen(0, "127.0.0.1", () => console.log(write({ port: server.address().port, feePayer: feePayer.address })));
