//! The journal as CSV or JSON lines, for spreadsheets and auditors.

use ledger_core::{LedgerAccount, LedgerTransfer};
use store::journal::JournalEntry;

/// The columns of [`csv_line`].
pub const CSV_HEADER: &str =
    "seq,entry,leg,time,code,debit_owner,debit,credit_owner,credit,currency,amount,key";

/// One entry as a line of CSV, without its line end. No value needs quoting: all are ids, numbers,
/// times and our own names.
pub fn csv_line(entry: &JournalEntry) -> String {
    let LedgerTransfer { leg, amount, code, at, .. } = &entry.transfer;
    let id = entry.transfer.entry.0;
    let (debit_owner, debit) = account_parts(&entry.transfer.debit);
    let (credit_owner, credit) = account_parts(&entry.transfer.credit);
    let currency = entry.transfer.debit.currency();
    let key = entry.transfer.key.map(|stamp| stamp.key.0.to_string()).unwrap_or_default();
    format!(
        "{},{id},{leg},{at},{},{debit_owner},{debit},{credit_owner},{credit},{currency},{amount},{key}",
        entry.seq,
        code.name(),
    )
}

/// One entry as a JSON object on one line, with the amount as an exact decimal string.
pub fn json_line(entry: &JournalEntry) -> String {
    let values = csv_line(entry);
    let is_number = |name: &str| name == "seq" || name == "leg";
    let fields: Vec<String> = CSV_HEADER
        .split(',')
        .zip(values.split(','))
        .map(|(name, value)| match value {
            "" => format!("\"{name}\":null"),
            _ if is_number(name) => format!("\"{name}\":{value}"),
            _ => format!("\"{name}\":\"{value}\""),
        })
        .collect();
    format!("{{{}}}", fields.join(","))
}

/// The owner of a lot (empty for a system account), and the name of the account.
fn account_parts(account: &LedgerAccount) -> (String, String) {
    match account {
        LedgerAccount::Lot(lot) => (lot.owner.0.to_string(), lot.tag.to_string()),
        LedgerAccount::System(system) => (String::new(), system.kind.to_string()),
    }
}
