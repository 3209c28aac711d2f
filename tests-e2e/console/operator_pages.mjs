// Tests the operator's pages: accounts, credit, keys, refunds and the journal.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { accessible, shot, signIn } from "./browser.mjs";

const { CONSOLE_URL: url, OPERATOR_KEY: operator } = process.env;

/** Sends operations to the control socket of the service, a line each; all must succeed. */
async function perform(operations) {
  const socket = connect(process.env.CONTROL_SOCKET);
  socket.write(operations.map((it) => `${JSON.stringify(it)}\n`).join(""));
  let done = 0;
  for await (const line of createInterface({ input: socket })) {
    assert.ok("done" in JSON.parse(line), line);
    if (++done === operations.length) break;
  }
  socket.destroy();
  assert.equal(done, operations.length);
}

/** Adds the tests; `openConsole` opens a page in its own context. */
export function testOperatorPages(openConsole) {
  test("an operator freezes an account, gives a charge back, and finds both in the audit trail", async () => {
    const { context, page, faults } = await openConsole();
    page.on("dialog", (dialog) => dialog.accept());
    await signIn(page, url, operator);
    await page.goto(`${url}/#/operator`);
    await page.getByLabel("Name").fill("guest");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("status").getByText("Account guest created").waitFor();
    const guest = page.getByTestId("accounts").getByRole("row", { name: /guest/ });
    await guest.getByRole("button", { name: "Freeze" }).click();
    await guest.getByText("frozen since").waitFor();
    await guest.getByRole("button", { name: "Unfreeze" }).click();
    await page.getByRole("status").getByText("guest is unfrozen").waitFor();

    for (const tab of ["Payments", "Providers", "Jobs", "Ledger"]) {
      await page.getByRole("tab", { name: tab }).click();
      await page.getByRole("heading", { level: 2 }).first().waitFor();
      await page.waitForLoadState("networkidle");
      await accessible(page);
      await shot(page, `operator-${tab.toLowerCase()}`);
    }
    await page.getByRole("button", { name: "Verify ledger" }).click();
    await page.getByText("no difference").waitFor();
    await page.getByRole("button", { name: "View journal" }).click();
    const journal = await page.locator("pre").textContent();
    const charge = journal
      .split("\n")
      .find((line) => /\bcharge\b/i.test(line))
      .match(/[0-9a-f]{8}-[0-9a-f-]{27}/)[0];
    await page.getByLabel("Charge ID").fill(charge);
    await page.getByLabel("Reason").fill("a trial of the console");
    await page.getByRole("button", { name: "Refund", exact: true }).click();
    await page
      .getByRole("status")
      .getByText(/Refunded: 0\.\d+ USD/)
      .waitFor();
    await page.getByTestId("audit").getByText("a trial of the console").waitFor();
    assert.deepEqual(faults, []);
    await context.close();
  });

  test("an operator serves an account: credit, a key, its requests, and a refund by request id", async () => {
    const { context, page, faults } = await openConsole();
    page.on("dialog", (dialog) => dialog.accept());
    await signIn(page, url, operator);
    await page.goto(`${url}/#/operator`);
    await page.getByLabel("Name").fill("customer");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("link", { name: "customer", exact: true }).click();
    await page.getByRole("heading", { name: "customer", exact: true }).waitFor();
    await page.getByLabel("Amount to add").fill("7.5");
    await page.getByRole("button", { name: "Add credit" }).click();
    await page.getByTestId("account-balance").getByText("$7.50").waitFor();
    await page.getByLabel("USD to remove").fill("2.5");
    await page.getByLabel("Reason for removal").fill("given by mistake");
    await page.getByRole("button", { name: "Remove credit" }).click();
    await page.getByTestId("account-balance").getByText("$5.00").waitFor();
    await page.getByLabel("Amount to add").fill("2.5");
    await page.getByRole("button", { name: "Add credit" }).click();
    await page.getByTestId("account-balance").getByText("$7.50").waitFor();
    await page.getByLabel("Description").fill("for the customer");
    await page.getByRole("button", { name: "Create key" }).click();
    const secret = page.getByTestId("new-key").getByText(/^SERVICE_INFERENCE_KEY_\w{49}$/);
    await secret.waitFor();
    const key = await secret.textContent();
    await page.getByTestId("account-keys").getByText("for the customer").waitFor();
    await shot(page, "account-key");

    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const body = JSON.stringify({ model: "small-text", messages: [{ role: "user", content: "Hi" }] });
    const answer = await fetch(`${url}/api/v1/chat/completions`, { method: "POST", headers, body });
    assert.equal(answer.status, 200);
    const id = answer.headers.get("x-request-id");
    await page.reload();
    await page.getByLabel("Request ID").fill(id);
    await page.getByTestId("found").getByText("1 request.").waitFor();
    assert.notEqual(await page.getByTestId("revenue").textContent(), "$0.00");
    await page.getByTestId("activity").getByRole("button", { name: "Details" }).click();
    await page.getByText(id).waitFor();
    await accessible(page);
    await shot(page, "account");
    await page.getByLabel("Reason for the refund").fill("slow answer");
    await page.getByRole("button", { name: "Refund this request" }).click();
    await page
      .getByRole("status")
      .getByText(/Refunded: 0\.\d+ USD/)
      .waitFor();
    await page.getByTestId("account-balance").getByText("$7.50").waitFor();
    await page.getByTestId("found").getByText("2 requests.").waitFor();
    assert.deepEqual(faults, []);
    await context.close();
  });

  test("the journal is read beyond its first thousand entries", async () => {
    const { context, page, faults } = await openConsole();
    await signIn(page, url, operator);
    // Uses the control socket, because requests to the console are limited per minute.
    await perform(
      Array.from({ length: 1020 }, () => ({
        operation: "credit_account",
        entry: randomUUID(),
        name: "default",
        amount: "0.001",
        currency: "usd",
      })),
    );
    await page.goto(`${url}/#/operator`);
    await page.getByRole("tab", { name: "Ledger" }).click();
    await page.getByRole("button", { name: "View journal" }).click();
    const journalPage = page.getByTestId("journal-page");
    await journalPage.getByText("1,000 entries after number 0.").waitFor();
    const first = await page.locator("pre").textContent();
    await page.getByRole("button", { name: "Next entries" }).click();
    await journalPage.getByText("end of the journal").waitFor();
    const second = await page.locator("pre").textContent();
    assert.ok(20 <= second.split("\n").length, second);
    assert.equal(first.includes(second.split("\n")[0]), false, "no entry is shown twice");
    await page.getByRole("button", { name: "Previous entries" }).click();
    await journalPage.getByText("1,000 entries after number 0.").waitFor();
    await page.getByLabel("From entry").fill("1001");
    await page.getByRole("button", { name: "Show" }).click();
    await journalPage.getByText("after number 1,000").waitFor();
    assert.equal(await page.locator("pre").textContent(), second);
    await shot(page, "journal");
    assert.deepEqual(faults, []);
    await context.close();
  });
}
