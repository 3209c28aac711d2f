//! The published text formats, each with the check that enforces it.

use crate::fault::TextRule;

/// Formats that describe storage or meaning and forbid nothing.
const ANNOTATIONS: [&str; 5] = ["double", "float", "binary", "byte", "password"];

/// The rule of a `format`; an error for formats that would be published and not enforced.
pub(crate) fn parse_format(format: &str) -> Result<Option<TextRule>, String> {
    match format {
        "uri" => Ok(Some(TextRule::Url)),
        "uuid" => Ok(Some(TextRule::Uuid)),
        "email" => Ok(Some(TextRule::Email)),
        "date" => Ok(Some(TextRule::Date)),
        "date-time" => Ok(Some(TextRule::DateTime)),
        other if ANNOTATIONS.contains(&other) || integer_bounds(other).is_some() => Ok(None),
        other => Err(format!("the format `{other}` is not enforced")),
    }
}

/// The minimum and maximum of an integer format.
pub(crate) fn integer_bounds(format: &str) -> Option<(i64, u64)> {
    match format {
        "int8" => Some((i8::MIN.into(), i8::MAX as u64)),
        "int16" => Some((i16::MIN.into(), i16::MAX as u64)),
        "int32" => Some((i32::MIN.into(), i32::MAX as u64)),
        "int64" | "int" => Some((i64::MIN, i64::MAX as u64)),
        "uint8" => Some((0, u8::MAX.into())),
        "uint16" => Some((0, u16::MAX.into())),
        "uint32" => Some((0, u32::MAX.into())),
        "uint64" | "uint" => Some((0, u64::MAX)),
        _ => None,
    }
}

pub(crate) fn is_valid_text(rule: &TextRule, text: &str) -> bool {
    match rule {
        TextRule::Url => is_url(text),
        TextRule::Uuid => is_uuid(text),
        TextRule::Email => is_email(text),
        TextRule::Date => is_date(text),
        TextRule::DateTime => is_date_time(text),
        TextRule::Pattern(_) => true,
    }
}

/// An absolute URI (RFC 3986): a scheme, a colon, and no characters that need escaping.
fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme_byte = |it: u8| it.is_ascii_alphanumeric() || b"+-.".contains(&it);
    scheme.starts_with(|it: char| it.is_ascii_alphabetic())
        && scheme.bytes().all(is_scheme_byte)
        && !rest.is_empty()
        && rest.bytes().all(|it| it.is_ascii_graphic() && !b"<>\"{}|\\^`".contains(&it))
        && rest.split('%').skip(1).all(starts_with_hex_pair)
}

fn starts_with_hex_pair(text: &str) -> bool {
    let bytes = text.as_bytes();
    2 <= bytes.len() && bytes[..2].iter().all(u8::is_ascii_hexdigit)
}

fn is_uuid(text: &str) -> bool {
    let is_right = |(index, byte): (usize, u8)| match index {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.bytes().enumerate().all(is_right)
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let is_plain = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_graphic());
    is_plain(local) && is_plain(domain) && !local.contains('@')
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let parts = (parse_digits(&bytes[..4]), parse_digits(&bytes[5..7]), parse_digits(&bytes[8..]));
    let (Some(year), Some(month), Some(day)) = parts else { return false };
    1 <= day && day <= days_in(year, month)
}

/// RFC 3339: a date, a `T`, a time, and a zone.
fn is_date_time(text: &str) -> bool {
    let Some((date, rest)) = text.split_once(['T', 't']) else { return false };
    let Some(zone_at) = rest.find(['Z', 'z', '+', '-']) else { return false };
    let (time, zone) = rest.split_at(zone_at);
    is_date(date) && is_time(time) && is_zone(zone)
}

fn is_time(text: &str) -> bool {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let is_bad = |it: &str| it.is_empty() || !it.bytes().all(|it| it.is_ascii_digit());
    let bytes = clock.as_bytes();
    if bytes.len() != 8 || bytes[5] != b':' || fraction.is_some_and(is_bad) {
        return false;
    }
    is_clock(&bytes[..5]) && parse_digits(&bytes[6..]).is_some_and(|second| second <= 59)
}

fn is_zone(text: &str) -> bool {
    match text.as_bytes() {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', clock @ ..] => is_clock(clock),
        _ => false,
    }
}

fn is_clock(bytes: &[u8]) -> bool {
    let [h1, h2, b':', m1, m2] = bytes else { return false };
    let (hour, minute) = (parse_digits(&[*h1, *h2]), parse_digits(&[*m1, *m2]));
    hour.is_some_and(|it| it <= 23) && minute.is_some_and(|it| it <= 59)
}

fn days_in(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    }
}

fn parse_digits(bytes: &[u8]) -> Option<u32> {
    let mut number = 0;
    for byte in bytes {
        if !byte.is_ascii_digit() {
            return None;
        }
        number = number * 10 + u32::from(byte - b'0');
    }
    Some(number)
}
