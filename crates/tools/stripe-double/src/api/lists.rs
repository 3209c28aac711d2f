//! Lists: newest first, in pages.

use serde_json::{Value, json};

use crate::actions::without_private;
use crate::api::unknown_route;
use crate::double::{StripeDouble, integer, text};
use crate::request::{DoubleAnswer, FormFields};

const PAGE_ITEMS: i64 = 10;
const PAGE_ITEMS_MAX: i64 = 100;

impl StripeDouble {
    pub(crate) fn list(&self, path: &str, query: &FormFields) -> DoubleAnswer {
        let table = match path {
            "checkout/sessions" => &self.sessions,
            "payment_intents" => &self.intents,
            "charges" => &self.charges,
            "refunds" => &self.refunds,
            "disputes" => &self.disputes,
            "radar/early_fraud_warnings" => &self.warnings,
            "events" => &self.events,
            _ => return unknown_route("GET", &format!("/v1/{path}")),
        };
        let limit = query.integer("limit").unwrap_or(PAGE_ITEMS);
        if !(1..=PAGE_ITEMS_MAX).contains(&limit) {
            return DoubleAnswer::invalid("The limit is 1 to 100");
        }
        let mut items = table.items().iter().rev().filter(|item| is_asked_for(item, query));
        if let Some(after) = query.get("starting_after")
            && items.find(|item| text(item, "id") == after).is_none()
        {
            return DoubleAnswer::missing("object", after);
        }
        let limit = usize::try_from(limit).unwrap_or_default();
        let page: Vec<Value> = items.by_ref().take(limit).map(without_private).collect();
        let has_more = items.next().is_some();
        let url = format!("/v1/{path}");
        DoubleAnswer::ok(json!({"object": "list", "data": page, "has_more": has_more, "url": url}))
    }
}

fn is_asked_for(item: &Value, query: &FormFields) -> bool {
    let fits = |field: &str| query.get(field).is_none_or(|wanted| text(item, field) == wanted);
    let is_recent =
        query.integer("created[gte]").is_none_or(|since| since <= integer(item, "created"));
    let mut kinds = query.list("types").peekable();
    let is_kind = kinds.peek().is_none() || kinds.any(|kind| text(item, "type") == kind);
    fits("payment_intent") && fits("customer") && fits("charge") && is_recent && is_kind
}
