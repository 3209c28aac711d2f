//! Usage rows as CSV (RFC 4180).

use wire::billing::{InferenceDetails, UsageRow};

const HEADER: &str = "timestamp,sku,pricePerUnitUsd,units,amount,currency,notes,\
inferenceDetails.requestId,inferenceDetails.inferenceExecutionTime,\
inferenceDetails.promptTokens,inferenceDetails.completionTokens,sessionId\r\n";

pub(super) fn write_csv(rows: &[UsageRow]) -> String {
    let mut text = HEADER.to_owned();
    for row in rows {
        let none = InferenceDetails {
            completion_tokens: None,
            inference_execution_time: None,
            prompt_tokens: None,
            request_id: None,
        };
        let details = row.inference_details.as_ref().unwrap_or(&none);
        let number = |value: Option<u64>| value.map(|it| it.to_string()).unwrap_or_default();
        let currency = serde_json::to_value(row.currency).unwrap_or_default();
        let fields = [
            row.timestamp.clone(),
            row.sku.clone(),
            row.price_per_unit_usd.to_string(),
            row.units.to_string(),
            row.amount.to_string(),
            currency.as_str().unwrap_or_default().to_owned(),
            row.notes.clone(),
            details.request_id.clone().unwrap_or_default(),
            number(details.inference_execution_time),
            number(details.prompt_tokens),
            number(details.completion_tokens),
            row.session_id.clone().unwrap_or_default(),
        ];
        text.push_str(&fields.map(|field| quote_field(&field)).join(","));
        text.push_str("\r\n");
    }
    text
}

/// Quotes fields that would break the row. Prefixes `'` to those that a spreadsheet would run.
fn quote_field(field: &str) -> String {
    let is_formula = field.starts_with(['=', '+', '@', '\t', '\r'])
        || (field.starts_with('-') && field.parse::<f64>().is_err());
    let field = if is_formula { format!("'{field}") } else { field.to_owned() };
    if field.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_would_break_a_row_or_run_in_a_spreadsheet_are_quoted() {
        assert_eq!(quote_field("plain"), "plain");
        assert_eq!(quote_field("a,b"), "\"a,b\"");
        assert_eq!(quote_field("say \"hi\""), "\"say \"\"hi\"\"\"");
        assert_eq!(quote_field("=1+1"), "'=1+1");
        assert_eq!(quote_field("-0.5"), "-0.5");
        assert_eq!(quote_field("-cmd"), "'-cmd");
    }
}
