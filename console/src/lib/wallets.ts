// Browser wallets: EVM by EIP-6963, Solana by the Wallet Standard. No library is needed: the page
// only requests addresses and signatures, and the service builds Solana transactions.
import { json } from "./http";

interface Eip1193 {
  request(call: { method: string; params?: unknown[] }): Promise<any>;
}
export interface Wallet {
  id: string;
  name: string;
  icon?: string;
  chain: "evm" | "solana";
  evm?: Eip1193;
  solana?: any;
}

/** Calls `found` with all known wallets, and again for each new one. */
export function discover(found: (wallets: Wallet[]) => void): () => void {
  const wallets = new Map<string, Wallet>();
  const add = (wallet: Wallet) => {
    wallets.set(wallet.id, wallet);
    found([...wallets.values()]);
  };
  const icon = (text?: string) => (text?.startsWith("data:image/") ? text : undefined);
  const announced = (event: Event) => {
    const { info, provider } = (event as CustomEvent).detail ?? {};
    if (info?.uuid && provider)
      add({ id: info.uuid, name: info.name, icon: icon(info.icon), chain: "evm", evm: provider });
  };
  const register = (...standard: any[]) => {
    for (const it of standard) {
      if (it.chains?.some((chain: string) => chain.startsWith("solana:")))
        add({ id: `solana:${it.name}`, name: it.name, icon: icon(it.icon), chain: "solana", solana: it });
    }
    return () => undefined;
  };
  const standard = (event: Event) => (event as CustomEvent).detail?.({ register });
  addEventListener("eip6963:announceProvider", announced);
  addEventListener("wallet-standard:register-wallet", standard);
  dispatchEvent(new Event("eip6963:requestProvider"));
  dispatchEvent(new CustomEvent("wallet-standard:app-ready", { detail: { register } }));
  return () => {
    removeEventListener("eip6963:announceProvider", announced);
    removeEventListener("wallet-standard:register-wallet", standard);
  };
}

async function evmAddress(wallet: Wallet): Promise<string> {
  const [address] = await wallet.evm!.request({ method: "eth_requestAccounts" });
  if (!address) throw new Error("The wallet returned no address.");
  return address;
}

async function solanaAccount(wallet: Wallet): Promise<any> {
  const { accounts } = await wallet.solana.features["standard:connect"].connect();
  if (!accounts?.length) throw new Error("The wallet returned no address.");
  return accounts[0];
}

const hex = (bytes: Uint8Array): string => [...bytes].map((it) => it.toString(16).padStart(2, "0")).join("");
export const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
const bytesToBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));
const bytesOf = (text: string): Uint8Array => Uint8Array.from(atob(text), (it) => it.charCodeAt(0));
const random = (count: number): string => hex(crypto.getRandomValues(new Uint8Array(count)));
const SOLANA_CHAIN = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";

/** Has a wallet sign a sign-in message for this host; returns the header for the service. */
export async function signInHeader(wallet: Wallet): Promise<Record<string, string>> {
  const issued = new Date();
  const expires = new Date(issued.getTime() + 4 * 60_000);
  const account = wallet.chain === "solana" ? await solanaAccount(wallet) : null;
  const address = account ? account.address : await evmAddress(wallet);
  const kind = account ? "Solana" : "Ethereum";
  const chain = account ? SOLANA_CHAIN : "8453";
  const message = `${location.host} wants you to sign in with your ${kind} account:\n${address}\n\nSign in to the service\n\nURI: ${location.origin}\nVersion: 1\nChain ID: ${chain}\nNonce: ${random(8)}\nIssued At: ${issued.toISOString()}\nExpiration Time: ${expires.toISOString()}`;
  let signature: string;
  let payload: Record<string, unknown>;
  if (account) {
    const [signed] = await wallet.solana.features["solana:signMessage"].signMessage({
      account,
      message: new TextEncoder().encode(message),
    });
    signature = bytesToBase64(signed.signature);
    payload = { address, message, signature, type: "ed25519", chainId: `solana:${SOLANA_CHAIN}` };
  } else {
    signature = await wallet.evm!.request({
      method: "personal_sign",
      params: [`0x${hex(new TextEncoder().encode(message))}`, address],
    });
    payload = { address, message, signature, chainId: "eip155:8453", type: "eip191" };
  }
  return { "SIGN-IN-WITH-X": base64(JSON.stringify(payload)) };
}

export interface Terms {
  scheme: string;
  network: string;
  amount: string;
  asset: string;
  payTo: string;
  maxTimeoutSeconds: number;
  extra?: Record<string, any>;
}

/** A USDC payment by EIP-3009: the wallet signs, the service submits. */
async function evmPayment(wallet: Wallet, terms: Terms, baseUnits: string): Promise<string> {
  const from = await evmAddress(wallet);
  const chainId = Number(terms.network.split(":")[1]);
  await wallet.evm!.request({
    method: "wallet_switchEthereumChain",
    params: [{ chainId: `0x${chainId.toString(16)}` }],
  });
  const now = Math.floor(Date.now() / 1000);
  const authorization = {
    from,
    to: terms.payTo,
    value: baseUnits,
    validAfter: String(now - 60),
    validBefore: String(now + terms.maxTimeoutSeconds),
    nonce: `0x${random(32)}`,
  };
  const field = (name: string, type: string) => ({ name, type });
  const typed = {
    domain: {
      name: terms.extra?.name ?? "USD Coin",
      version: terms.extra?.version ?? "2",
      chainId,
      verifyingContract: terms.asset,
    },
    primaryType: "TransferWithAuthorization",
    types: {
      EIP712Domain: [
        field("name", "string"),
        field("version", "string"),
        field("chainId", "uint256"),
        field("verifyingContract", "address"),
      ],
      TransferWithAuthorization: [
        field("from", "address"),
        field("to", "address"),
        field("value", "uint256"),
        field("validAfter", "uint256"),
        field("validBefore", "uint256"),
        field("nonce", "bytes32"),
      ],
    },
    message: authorization,
  };
  const signature = await wallet.evm!.request({
    method: "eth_signTypedData_v4",
    params: [from, JSON.stringify(typed)],
  });
  return base64(JSON.stringify({ x402Version: 2, accepted: terms, payload: { signature, authorization } }));
}

/** Maps Solana networks, named by their genesis in payments, to the names that wallets use. */
const CLUSTERS: Record<string, string> = {
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": "solana:mainnet",
  "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1": "solana:devnet",
};

/** True if the wallet can pay on the network of these terms. */
export function canPay(wallet: Wallet, terms: Terms): boolean {
  if (wallet.chain === "evm") return terms.network.startsWith("eip155:");
  return terms.network in CLUSTERS && !!wallet.solana.features["solana:signTransaction"];
}

/** A USDC payment on Solana: the service builds the transaction, the wallet signs it, the service submits it. */
async function solanaPayment(wallet: Wallet, terms: Terms, baseUnits: string): Promise<string> {
  const account = await solanaAccount(wallet);
  const { transaction } = await json<{ transaction: string }>("/console/solana-payment", {
    body: { payer: account.address, amount: baseUnits },
  });
  const asked = { account, transaction: bytesOf(transaction), chain: CLUSTERS[terms.network] };
  const [signed] = await wallet.solana.features["solana:signTransaction"].signTransaction(asked);
  return base64(
    JSON.stringify({
      x402Version: 2,
      accepted: terms,
      payload: { transaction: bytesToBase64(signed.signedTransaction) },
    }),
  );
}

/** Has a wallet sign a payment; returns the value of the payment header. */
export function payment(wallet: Wallet, terms: Terms, baseUnits: string): Promise<string> {
  return wallet.chain === "evm" ? evmPayment(wallet, terms, baseUnits) : solanaPayment(wallet, terms, baseUnits);
}
