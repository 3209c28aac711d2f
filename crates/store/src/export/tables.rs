//! The contents of an export: every table and column that must not be lost, ordered so that rows
//! come after the rows they refer to.
//!
//! Derived rows are left out: row numbers of accounts (an export identifies an account by its
//! owner, currency and name, see `account_in_export`), the index rows of usage, and the nodes.

#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    pub name: &'static str,
    pub columns: &'static [Column],
    /// The columns that rows are sorted by, which identify a row.
    pub order: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub kind: ColumnKind,
}

/// The type of a column's cells, which may also be empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// A UUID.
    Id,
    Number,
    Flag,
    Text,
    Bytes,
}

const fn id(name: &'static str) -> Column {
    Column { name, kind: ColumnKind::Id }
}

const fn number(name: &'static str) -> Column {
    Column { name, kind: ColumnKind::Number }
}

const fn flag(name: &'static str) -> Column {
    Column { name, kind: ColumnKind::Flag }
}

const fn text(name: &'static str) -> Column {
    Column { name, kind: ColumnKind::Text }
}

const fn bytes(name: &'static str) -> Column {
    Column { name, kind: ColumnKind::Bytes }
}

macro_rules! table {
    ($name:literal by $order:expr => $($column:expr),+ $(,)?) => {
        Table { name: $name, columns: &[$($column),+], order: &$order }
    };
}

pub const TABLES: &[Table] = &[
    table!("setting" by ["name"] => text("name"), bytes("value")),
    table!("owner" by ["id"] => id("id"), text("kind"), text("name"), text("tier"),
        number("created_ms"), number("frozen_ms")),
    table!("api_key" by ["id"] => id("id"), id("owner"), bytes("digest"), text("last6"),
        text("kind"), text("description"), number("limit_usd"), number("limit_diem"),
        text("limit_period"), number("expires_ms"), number("created_ms"), number("last_used_ms"),
        number("revoked_ms"), number("limits_since_ms"), text("model_privacy"),
        flag("is_operator")),
    table!("limit_hit" by ["seq"] => number("seq"), id("owner"), id("key"), text("model"),
        text("tier"), text("kind"), number("at_ms")),
    table!("wallet_nonce" by ["wallet", "nonce"] => text("wallet"), text("nonce"),
        number("until_ms")),
    table!("wallet_link" by ["kind", "address"] => text("kind"), text("address"), id("owner"),
        number("at_ms")),
    table!("account" by ["owner", "currency", "name"] => id("owner"), text("currency"),
        text("name"), number("opened_ms"), number("expires_ms"), flag("is_closed"),
        number("granted"), number("debits"), number("credits"), number("pending")),
    table!("transfer" by ["seq"] => number("seq"), id("entry"), number("leg"), id("debit"),
        id("credit"), number("amount"), number("code"), number("at_ms"), id("key"),
        number("key_day"), number("key_month")),
    table!("allowance" by ["owner", "kind"] => id("owner"), text("kind"), number("amount"),
        number("opened_period")),
    table!("allowance_change" by ["entry"] => id("entry"), id("owner"), text("kind"),
        number("amount"), number("at_ms")),
    table!("key_spend" by ["key", "class"] => id("key"), text("class"), number("day"),
        number("day_spent"), number("month"), number("month_spent"), number("lifetime_spent")),
    table!("job_hold" by ["id"] => id("id"), id("owner"), number("made_ms"), id("key"),
        number("limit_usd"), number("limit_diem"), text("limit_period"), number("key_day"),
        number("key_month")),
    table!("job_hold_leg" by ["hold", "position"] => id("hold"), number("position"), id("account"),
        number("amount")),
    table!("usage" by ["seq"] => number("seq"), id("charge"), id("owner"), id("key"),
        number("at_ms"), text("sku"), text("model"), text("currency"), number("units"),
        number("price_pico"), number("price_per"), number("amount"), text("request_id"),
        number("prompt_tokens"), number("completion_tokens"), number("execution_ms"),
        text("notes"), number("digest")),
    table!("usage_daily" by ["owner", "day", "currency", "key", "model", "sku"] => id("owner"),
        number("day"), text("currency"), id("key"), text("model"), text("sku"),
        number("row_count"), number("units"), number("amount")),
    table!("idempotency" by ["owner", "key"] => id("owner"), text("key"), bytes("fingerprint"),
        text("headers"), bytes("body"), number("expires_ms")),
    table!("idempotency_total" by ["owner"] => id("owner"), number("answers"), number("bytes")),
    table!("rpc_tx" by ["seq"] => number("seq"), text("tx_hash"), text("network"),
        text("request_id"), id("owner"), number("at_ms")),
    table!("rpc_spent" by ["quarter", "owner"] => number("quarter"), id("owner"),
        number("credits")),
    table!("claim" by ["id"] => bytes("id"), text("network"), text("asset"), text("payer"),
        bytes("nonce"), text("pay_to"), number("units"), text("payment"), text("state"),
        text("transaction_id"), bytes("raw"), number("sequence"), number("since_block"),
        text("reason"), number("credited_nano"), id("entry"), number("created_ms"),
        number("changed_ms"), number("sent_ms"), text("replaced")),
    table!("missing_claim" by ["claim"] => bytes("claim"), number("since_ms")),
    table!("received_claim" by ["claim"] => bytes("claim"), text("transaction_id"),
        number("amount_nano"), number("since_ms")),
    table!("audit" by ["seq"] => number("seq"), number("at_ms"), text("actor"), text("action"),
        text("subject"), text("detail")),
    table!("media" by ["id"] => id("id"), id("owner"), number("bytes"), text("content_type"),
        bytes("sha256"), bytes("key"), text("state"), number("stored_ms"), number("expires_ms")),
    table!("job" by ["id"] => id("id"), id("owner"), id("key"), text("kind"), text("model"),
        text("request"), text("charge"), text("request_id"), text("alternative"),
        flag("has_link"), flag("is_link_revoked"), text("state"), number("attempts"),
        number("fence"), number("lease_until_ms"), number("due_ms"), flag("is_submitting"),
        flag("wants_cancel"), text("ticket"), number("queued_ms"), number("started_ms"),
        number("submitted_ms"), number("done_ms"), text("failure"), id("media")),
    table!("job_timing" by ["model", "job"] => text("model"), id("job"), number("took_ms")),
    table!("character" by ["seq"] => number("seq"), id("id"), text("slug"), text("name"),
        text("description"), text("author"), text("tags"), flag("adult"), flag("featured"),
        flag("pro"), flag("web_enabled"), text("model"), number("created_ms"),
        number("updated_ms"), number("imports"), number("rating_count"), number("rating_sum")),
    table!("character_content" by ["character"] => number("character"), text("card"),
        text("picture_type"), bytes("picture")),
    table!("character_tag" by ["tag", "character"] => text("tag"), number("character")),
    table!("character_word" by ["word", "character"] => text("word"), number("character")),
    table!("character_review" by ["seq"] => number("seq"), id("id"), number("character"),
        id("owner"), number("rating"), text("message"), text("locale"), text("username"),
        number("created_ms")),
    table!("character_use" by ["character", "owner"] => number("character"), id("owner"),
        number("at_ms")),
];
