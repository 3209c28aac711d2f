//! Amounts of money: `$9.99`, `£3.2 billion`, `20 USD`, `50¢`.

use std::sync::LazyLock;

use regex::Regex;

use super::rewrite::{NUMBER, compile_pattern, rewrite_matches};
use crate::number::{to_cardinal, to_decimals};

pub(super) fn read_amounts(text: &str) -> String {
    static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
        compile_pattern(&format!(
            r"([$£€¥₹₩]|\b(?:USD|EUR|GBP|Rs\.?))\s?({NUMBER})(?:\s?({SCALES})\b)?"
        ))
    });
    static AFTER: LazyLock<Regex> = LazyLock::new(|| {
        compile_pattern(&format!(r"({NUMBER})(?:\s?({SCALES}))?\s?([€¢£]|(?:USD|EUR|GBP)\b)"))
    });
    let text = rewrite_matches(text, &BEFORE, |found| {
        let unit = parse_currency(found.group(1))?;
        Some(format_amount(found.group(2), found.group(3), unit)).filter(|_| !found.precedes_word())
    });
    rewrite_matches(&text, &AFTER, |found| {
        let unit = parse_currency(found.group(3))?;
        let inside = found.follows_word() || found.before.ends_with('.') || found.precedes_word();
        Some(format_amount(found.group(1), found.group(2), unit)).filter(|_| !inside)
    })
}

const SCALES: &str = "hundred|thousand|million|billion|trillion|[kKmMbB]";

struct CurrencyUnit {
    one: &'static str,
    many: &'static str,
    /// Name of the hundredth part, singular and plural.
    cent: Option<(&'static str, &'static str)>,
}

fn parse_currency(sign: &str) -> Option<CurrencyUnit> {
    let cents = Some(("cent", "cents"));
    let unit = match sign.trim_end_matches('.') {
        "$" | "USD" => CurrencyUnit { one: "dollar", many: "dollars", cent: cents },
        "€" | "EUR" => CurrencyUnit { one: "euro", many: "euros", cent: cents },
        "£" | "GBP" => {
            CurrencyUnit { one: "pound", many: "pounds", cent: Some(("pence", "pence")) }
        }
        "¥" => CurrencyUnit { one: "yen", many: "yen", cent: None },
        "₩" => CurrencyUnit { one: "won", many: "won", cent: None },
        "₹" | "Rs" => CurrencyUnit { one: "rupee", many: "rupees", cent: None },
        "¢" => CurrencyUnit { one: "cent", many: "cents", cent: None },
        _ => return None,
    };
    Some(unit)
}

fn format_amount(number: &str, scale: &str, unit: CurrencyUnit) -> String {
    let number = number.replace(',', "");
    let (whole, decimals) = number.split_once('.').unwrap_or((&number, ""));
    let scale = match scale {
        "k" | "K" => "thousand",
        "m" | "M" => "million",
        "b" | "B" => "billion",
        named => named,
    };
    let is_zero = |digits: &str| digits.bytes().all(|it| it == b'0');
    let name = if whole.trim_start_matches('0') == "1" { unit.one } else { unit.many };
    if !scale.is_empty() {
        let decimals = to_decimals(decimals).map(|it| format!(" {it}")).unwrap_or_default();
        return format!("{}{decimals} {scale} {}", to_cardinal(whole), unit.many);
    }
    match unit.cent {
        _ if is_zero(decimals) => format!("{} {name}", to_cardinal(whole)),
        Some((one, many)) if decimals.len() <= 2 => {
            let hundredths = format!("{decimals:0<2}");
            let cent = if hundredths == "01" { one } else { many };
            let cents = format!("{} {cent}", to_cardinal(&hundredths));
            if is_zero(whole) {
                cents
            } else {
                format!("{} {name} and {cents}", to_cardinal(whole))
            }
        }
        _ => {
            let decimals = to_decimals(decimals).unwrap_or_default();
            format!("{} {decimals} {}", to_cardinal(whole), unit.many)
        }
    }
}
