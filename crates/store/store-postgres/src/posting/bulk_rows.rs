//! Rows of which a batch has many: one statement per table, with an array for every column.

use std::collections::HashSet;

use ledger_core::LedgerTransfer;
use money::BalanceCurrency;
use store::error::StoreError;
use store::names::units_of;
use store::sql::to_signed;
use store::usage::UsageRow;
use store::usage_digest::digest_usage_row;
use uuid::Uuid;

use crate::columns::{to_optional_signed, to_sql_text};
use crate::node::NodeIdentity;
use crate::statements::{SqlStatements, values};

/// Sequence numbers are drawn in the order of the arrays.
const ADD_TRANSFERS: &str = "INSERT INTO transfer \
    (entry, leg, debit, credit, amount, code, at_ms, key, key_day, key_month) \
    SELECT entry, leg, debit, credit, amount, code, at_ms, key, key_day, key_month \
    FROM unnest($1::uuid[], $2::int4[], $3::uuid[], $4::uuid[], $5::int8[], $6::int2[], \
    $7::int8[], $8::uuid[], $9::int8[], $10::int8[]) WITH ORDINALITY AS added \
    (entry, leg, debit, credit, amount, code, at_ms, key, key_day, key_month, place) \
    ORDER BY place";

const ADD_USAGE: &str = "INSERT INTO usage (charge, owner, key, at_ms, sku, model, currency, \
    units, price_pico, price_per, amount, request_id, prompt_tokens, completion_tokens, \
    execution_ms, notes, digest, cached_tokens, session) \
    SELECT charge, owner, key, at_ms, sku, model, currency, units, price_pico, price_per, amount, \
    request_id, prompt_tokens, completion_tokens, execution_ms, notes, digest, \
    cached_tokens, session \
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int8[], $5::text[], $6::text[], \
    $7::text[], $8::int8[], $9::int8[], $10::int8[], $11::int8[], $12::text[], $13::int8[], \
    $14::int8[], $15::int8[], $16::text[], $17::int8[], $18::int8[], $19::int8[]) \
    WITH ORDINALITY AS added \
    (charge, owner, key, at_ms, sku, model, currency, units, price_pico, price_per, amount, \
    request_id, prompt_tokens, completion_tokens, execution_ms, notes, digest, cached_tokens, \
    session, place) ORDER BY place";

const ADD_SYSTEMS: &str = "INSERT INTO account (id, node, currency, name, opened_ms) \
    SELECT id, $2, currency, name, opened_ms \
    FROM unnest($1::uuid[], $3::text[], $4::text[], $5::int8[]) \
    AS added (id, currency, name, opened_ms) ON CONFLICT (id) DO NOTHING";

#[derive(Default)]
pub(crate) struct TransferRows {
    entry: Vec<Uuid>,
    leg: Vec<i32>,
    debit: Vec<Uuid>,
    credit: Vec<Uuid>,
    amount: Vec<i64>,
    code: Vec<i16>,
    at_ms: Vec<i64>,
    key: Vec<Option<Uuid>>,
    key_day: Vec<Option<i64>>,
    key_month: Vec<Option<i64>>,
}

impl TransferRows {
    pub(crate) fn add(&mut self, debit: Uuid, credit: Uuid, transfer: &LedgerTransfer) {
        self.entry.push(transfer.entry.0);
        self.leg.push(i32::from(transfer.leg));
        self.debit.push(debit);
        self.credit.push(credit);
        self.amount.push(transfer.amount.nanos());
        self.code.push(i16::from(transfer.code.number()));
        self.at_ms.push(transfer.at.ms());
        self.key.push(transfer.key.map(|stamp| stamp.key.0));
        self.key_day.push(transfer.key.map(|stamp| stamp.day));
        self.key_month.push(transfer.key.map(|stamp| stamp.month));
    }

    pub(crate) fn write(self, statements: &mut SqlStatements<'_>) {
        if self.entry.is_empty() {
            return;
        }
        let values = values![
            self.entry,
            self.leg,
            self.debit,
            self.credit,
            self.amount,
            self.code,
            self.at_ms,
            self.key,
            self.key_day,
            self.key_month,
        ];
        statements.add(ADD_TRANSFERS, values);
    }
}

#[derive(Default)]
pub(crate) struct UsageRows<'a>(Vec<&'a UsageRow>);

impl<'a> UsageRows<'a> {
    pub(crate) fn add(&mut self, row: &'a UsageRow) {
        self.0.push(row);
    }

    pub(crate) fn write(self, statements: &mut SqlStatements<'a>) -> Result<(), StoreError> {
        let rows = self.0;
        if rows.is_empty() {
            return Ok(());
        }
        let texts = |of: fn(&UsageRow) -> &str| -> Vec<_> {
            rows.iter().map(|row| to_sql_text(of(row))).collect()
        };
        let counts = |of: fn(&UsageRow) -> Option<u64>| -> Result<Vec<_>, StoreError> {
            rows.iter().map(|row| to_optional_signed(of(row))).collect()
        };
        let numbers =
            |of: fn(&UsageRow) -> i64| -> Vec<_> { rows.iter().map(|row| of(row)).collect() };
        let units: Vec<i64> =
            rows.iter().map(|row| to_signed(row.units)).collect::<Result<_, _>>()?;
        let values = values![
            rows.iter().map(|row| row.charge.0).collect::<Vec<_>>(),
            rows.iter().map(|row| row.owner.0).collect::<Vec<_>>(),
            rows.iter().map(|row| row.key.map(|key| key.0)).collect::<Vec<_>>(),
            numbers(|row| row.at.ms()),
            texts(|row| &row.sku),
            texts(|row| &row.model),
            texts(|row| row.currency.name()),
            units,
            numbers(|row| row.price.picos()),
            numbers(|row| units_of(row.per)),
            numbers(|row| row.amount.nanos()),
            texts(|row| &row.details.request_id),
            counts(|row| row.details.prompt_tokens)?,
            counts(|row| row.details.completion_tokens)?,
            counts(|row| row.details.execution_ms)?,
            texts(|row| &row.notes),
            numbers(digest_usage_row),
            counts(|row| row.details.cached_tokens)?,
            rows.iter().map(|row| row.details.session.map(u64::cast_signed)).collect::<Vec<_>>(),
        ];
        statements.add(ADD_USAGE, values);
        Ok(())
    }
}

/// System accounts that a batch uses.
#[derive(Default)]
pub(crate) struct SystemAccounts {
    seen: HashSet<Uuid>,
    opened: Vec<(Uuid, BalanceCurrency, String, i64)>,
}

impl SystemAccounts {
    pub(crate) fn add(
        &mut self,
        id: Uuid,
        currency: BalanceCurrency,
        name: String,
        opened_ms: i64,
    ) {
        if self.seen.insert(id) {
            self.opened.push((id, currency, name, opened_ms));
        }
    }

    /// Adds statements that create the accounts not in `known`, and returns their ids.
    pub(crate) fn write(
        self,
        statements: &mut SqlStatements<'_>,
        node: NodeIdentity,
        known: &HashSet<Uuid>,
    ) -> Vec<Uuid> {
        let mut opened = self.opened;
        opened.retain(|(id, ..)| !known.contains(id));
        if opened.is_empty() {
            return Vec::new();
        }
        let ids: Vec<Uuid> = opened.iter().map(|(id, ..)| *id).collect();
        let currencies: Vec<&str> =
            opened.iter().map(|(_, currency, ..)| currency.name()).collect();
        let opened_ms: Vec<i64> = opened.iter().map(|(.., opened_ms)| *opened_ms).collect();
        let names: Vec<String> = opened.into_iter().map(|(_, _, name, _)| name).collect();
        statements.add(ADD_SYSTEMS, values![ids.clone(), node.id, currencies, names, opened_ms]);
        ids
    }
}
