//! The contents of an export: every table and column that must not be lost, ordered so that rows
//! come after the rows they refer to.
//!
//! Derived rows are left out: row numbers of accounts (an export identifies an account by its
//! owner, currency and name, see `account_in_export`), the index rows of usage, and the nodes.

#[derive(Debug, PartialEq, Eq)]
pub struct ExportTable {
    pub name: &'static str,
    pub columns: &'static [ExportColumn],
    /// The columns that rows are sorted by, which identify a row.
    pub order: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportColumn {
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

const fn id_column(name: &'static str) -> ExportColumn {
    ExportColumn { name, kind: ColumnKind::Id }
}

const fn number_column(name: &'static str) -> ExportColumn {
    ExportColumn { name, kind: ColumnKind::Number }
}

const fn flag_column(name: &'static str) -> ExportColumn {
    ExportColumn { name, kind: ColumnKind::Flag }
}

const fn text_column(name: &'static str) -> ExportColumn {
    ExportColumn { name, kind: ColumnKind::Text }
}

const fn bytes_column(name: &'static str) -> ExportColumn {
    ExportColumn { name, kind: ColumnKind::Bytes }
}

macro_rules! table {
    ($name:literal by $order:expr => $($column:expr),+ $(,)?) => {
        ExportTable { name: $name, columns: &[$($column),+], order: &$order }
    };
}

pub const TABLES: &[ExportTable] = &[
    table!("setting" by ["name"] => text_column("name"), bytes_column("value")),
    table!("owner" by ["id"] => id_column("id"), text_column("kind"), text_column("name"), text_column("tier"),
        number_column("created_ms"), number_column("frozen_ms")),
    table!("api_key" by ["id"] => id_column("id"), id_column("owner"), bytes_column("digest"), text_column("last6"),
        text_column("kind"), text_column("description"), number_column("limit_usd"), number_column("limit_diem"),
        text_column("limit_period"), number_column("expires_ms"), number_column("created_ms"), number_column("last_used_ms"),
        number_column("revoked_ms"), number_column("limits_since_ms"), text_column("model_privacy"),
        flag_column("is_operator")),
    table!("limit_hit" by ["seq"] => number_column("seq"), id_column("owner"), id_column("key"), text_column("model"),
        text_column("tier"), text_column("kind"), number_column("at_ms")),
    table!("wallet_nonce" by ["wallet", "nonce"] => text_column("wallet"), text_column("nonce"),
        number_column("until_ms")),
    table!("wallet_link" by ["kind", "address"] => text_column("kind"), text_column("address"), id_column("owner"),
        number_column("at_ms")),
    table!("account" by ["owner", "currency", "name"] => id_column("owner"), text_column("currency"),
        text_column("name"), number_column("opened_ms"), number_column("expires_ms"), flag_column("is_closed"),
        number_column("granted"), number_column("debits"), number_column("credits"), number_column("pending")),
    table!("transfer" by ["seq"] => number_column("seq"), id_column("entry"), number_column("leg"), id_column("debit"),
        id_column("credit"), number_column("amount"), number_column("code"), number_column("at_ms"), id_column("key"),
        number_column("key_day"), number_column("key_month")),
    table!("allowance" by ["owner", "kind"] => id_column("owner"), text_column("kind"), number_column("amount"),
        number_column("opened_period")),
    table!("allowance_change" by ["entry"] => id_column("entry"), id_column("owner"), text_column("kind"),
        number_column("amount"), number_column("at_ms")),
    table!("key_spend" by ["key", "class"] => id_column("key"), text_column("class"), number_column("day"),
        number_column("day_spent"), number_column("month"), number_column("month_spent"), number_column("lifetime_spent")),
    table!("job_hold" by ["id"] => id_column("id"), id_column("owner"), number_column("made_ms"), id_column("key"),
        number_column("limit_usd"), number_column("limit_diem"), text_column("limit_period"), number_column("key_day"),
        number_column("key_month")),
    table!("job_hold_leg" by ["hold", "position"] => id_column("hold"), number_column("position"), id_column("account"),
        number_column("amount")),
    table!("usage" by ["seq"] => number_column("seq"), id_column("charge"), id_column("owner"), id_column("key"),
        number_column("at_ms"), text_column("sku"), text_column("model"), text_column("currency"), number_column("units"),
        number_column("price_pico"), number_column("price_per"), number_column("amount"), text_column("request_id"),
        number_column("prompt_tokens"), number_column("completion_tokens"), number_column("execution_ms"),
        text_column("notes"), number_column("digest"), number_column("cached_tokens"), number_column("session")),
    table!("usage_daily" by ["owner", "day", "currency", "key", "model", "sku"] => id_column("owner"),
        number_column("day"), text_column("currency"), id_column("key"), text_column("model"), text_column("sku"),
        number_column("row_count"), number_column("units"), number_column("amount")),
    table!("usage_session" by ["day", "owner", "session"] => number_column("day"), id_column("owner"),
        number_column("session"), number_column("requests"), number_column("units"), number_column("usd"),
        number_column("diem"), number_column("input_tokens"), number_column("cached_tokens"),
        number_column("output_tokens"), number_column("first_ms"), number_column("last_ms")),
    table!("idempotency" by ["owner", "key"] => id_column("owner"), text_column("key"), bytes_column("fingerprint"),
        text_column("headers"), bytes_column("body"), number_column("expires_ms")),
    table!("idempotency_total" by ["owner"] => id_column("owner"), number_column("answers"), number_column("bytes")),
    table!("rpc_tx" by ["seq"] => number_column("seq"), text_column("tx_hash"), text_column("network"),
        text_column("request_id"), id_column("owner"), number_column("at_ms")),
    table!("rpc_spent" by ["quarter", "owner"] => number_column("quarter"), id_column("owner"),
        number_column("credits")),
    table!("claim" by ["id"] => bytes_column("id"), text_column("network"), text_column("asset"), text_column("payer"),
        bytes_column("nonce"), text_column("pay_to"), number_column("units"), text_column("payment"), text_column("state"),
        text_column("transaction_id"), bytes_column("raw"), number_column("sequence"), number_column("since_block"),
        text_column("reason"), number_column("credited_nano"), id_column("entry"), number_column("created_ms"),
        number_column("changed_ms"), number_column("sent_ms"), text_column("replaced")),
    table!("missing_claim" by ["claim"] => bytes_column("claim"), number_column("since_ms")),
    table!("received_claim" by ["claim"] => bytes_column("claim"), text_column("transaction_id"),
        number_column("amount_nano"), number_column("since_ms")),
    table!("audit" by ["seq"] => number_column("seq"), number_column("at_ms"), text_column("actor"), text_column("action"),
        text_column("subject"), text_column("detail")),
    table!("media" by ["id"] => id_column("id"), id_column("owner"), number_column("bytes"), text_column("content_type"),
        bytes_column("sha256"), bytes_column("key"), text_column("state"), number_column("stored_ms"), number_column("expires_ms")),
    table!("job" by ["id"] => id_column("id"), id_column("owner"), id_column("key"), text_column("kind"), text_column("model"),
        text_column("request"), text_column("charge"), text_column("request_id"), text_column("alternative"),
        flag_column("has_link"), flag_column("is_link_revoked"), text_column("state"), number_column("attempts"),
        number_column("fence"), number_column("lease_until_ms"), number_column("due_ms"), flag_column("is_submitting"),
        flag_column("wants_cancel"), text_column("ticket"), number_column("queued_ms"), number_column("started_ms"),
        number_column("submitted_ms"), number_column("done_ms"), text_column("failure"), id_column("media")),
    table!("file" by ["id"] => id_column("id"), id_column("owner"), text_column("name"), text_column("purpose"),
        number_column("bytes"), number_column("created_ms"), number_column("expires_ms"), flag_column("is_deleted")),
    table!("call_batch" by ["id"] => id_column("id"), id_column("owner"), text_column("caller"), text_column("endpoint"),
        id_column("input_file"), text_column("metadata"), number_column("keep_output_ms"), text_column("state"),
        text_column("errors"), bytes_column("result_key"), number_column("lines"), number_column("completed"),
        number_column("failed"), number_column("result_bytes"), number_column("cost_usd"), number_column("cost_diem"),
        id_column("output_file"), id_column("error_file"), number_column("created_ms"), number_column("expires_ms"),
        number_column("started_ms"), number_column("finalizing_ms"), number_column("cancelling_ms"),
        number_column("ended_ms"), flag_column("has_lines")),
    table!("call_batch_line" by ["batch", "line"] => id_column("batch"), number_column("line"), id_column("charge"),
        flag_column("is_failed"), bytes_column("result")),
    table!("job_timing" by ["model", "job"] => text_column("model"), id_column("job"), number_column("took_ms")),
    table!("character" by ["seq"] => number_column("seq"), id_column("id"), text_column("slug"), text_column("name"),
        text_column("description"), text_column("author"), text_column("tags"), flag_column("adult"), flag_column("featured"),
        flag_column("pro"), flag_column("web_enabled"), text_column("model"), number_column("created_ms"),
        number_column("updated_ms"), number_column("imports"), number_column("rating_count"), number_column("rating_sum")),
    table!("character_content" by ["character"] => number_column("character"), text_column("card"),
        text_column("picture_type"), bytes_column("picture")),
    table!("character_tag" by ["tag", "character"] => text_column("tag"), number_column("character")),
    table!("character_word" by ["word", "character"] => text_column("word"), number_column("character")),
    table!("character_review" by ["seq"] => number_column("seq"), id_column("id"), number_column("character"),
        id_column("owner"), number_column("rating"), text_column("message"), text_column("locale"), text_column("username"),
        number_column("created_ms")),
    table!("character_use" by ["character", "owner"] => number_column("character"), id_column("owner"),
        number_column("at_ms")),
    table!("model_response" by ["id"] => id_column("id"), id_column("owner"), text_column("state"), text_column("model"),
        id_column("previous"), number_column("depth"), id_column("conversation"), flag_column("is_background"),
        flag_column("is_streamed"), number_column("bytes"), bytes_column("key"), bytes_column("input"),
        bytes_column("output"), number_column("usd_nano"), number_column("diem_nano"), number_column("fence"),
        number_column("lease_until_ms"), flag_column("wants_cancel"), number_column("events"), number_column("created_ms"),
        number_column("started_ms"), number_column("ended_ms"), number_column("expires_ms")),
    table!("response_event" by ["response", "first"] => id_column("response"), number_column("first"),
        number_column("last"), bytes_column("sealed")),
    table!("conversation" by ["id"] => id_column("id"), id_column("owner"), bytes_column("key"), bytes_column("metadata"),
        number_column("bytes"), number_column("created_ms"), number_column("expires_ms")),
    table!("conversation_item" by ["conversation", "position"] => id_column("conversation"), number_column("position"),
        text_column("item"), id_column("owner"), bytes_column("key"), bytes_column("sealed"), number_column("bytes")),
];
