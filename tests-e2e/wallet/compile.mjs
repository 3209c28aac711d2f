// Compiles Token.sol and prints the deployed bytecode of its contracts.
import fs from "node:fs";
import solc from "solc";

const input = {
  language: "Solidity",
  sources: { "Token.sol": { content: fs.readFileSync(new URL("Token.sol", import.meta.url), "utf8") } },
  settings: {
    evmVersion: "shanghai",
    optimizer: { enabled: true, runs: 200 },
    outputSelection: { "*": { "*": ["evm.deployedBytecode.object"] } },
  },
};
const output = JSON.parse(solc.compile(JSON.stringify(input)));
const errors = (output.errors ?? []).filter((it) => it.severity === "error");
if (errors.length > 0) {
  console.error(errors.map((it) => it.formattedMessage).join("\n"));
  process.exit(1);
}
const code = (name) => "0x" + output.contracts["Token.sol"][name].evm.deployedBytecode.object;
console.log(JSON.stringify({ token: code("Token"), wallet: code("Wallet") }));
