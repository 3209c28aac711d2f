//! A digest of each usage row, by which verification finds rows that were changed after they were
//! written. It has no key: it finds what was changed by hand, by a fault of a program or on the
//! disk, and not a change by someone who computes the digest anew.

use std::borrow::Cow;
use std::hash::Hasher;

use siphasher::sip::SipHasher13;

use crate::names::units_of;
use crate::usage::{UsageDetails, UsageRow};

/// The version of the encoding: another one needs another tag.
const ENCODING_TAG: &[u8] = b"tollgate usage row 1";

/// The comparison of a usage row with its stored digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DigestCheck {
    Matching,
    /// A field was changed after the row was written, or the digest was.
    Differing,
    /// Written by a release that stored no digests, so that a change cannot be found.
    Absent,
}

impl DigestCheck {
    pub fn compare(row: &UsageRow, stored: Option<i64>) -> DigestCheck {
        match stored {
            None => DigestCheck::Absent,
            Some(stored) if stored == digest_usage_row(row) => DigestCheck::Matching,
            Some(_) => DigestCheck::Differing,
        }
    }
}

/// Returns the SipHash-1-3 of the fields, each in a form of which no other value begins with the
/// same bytes. It is computed for every line of a charge, so it is a fast hash.
pub fn digest_usage_row(row: &UsageRow) -> i64 {
    // Destructured, so that a new field is not forgotten.
    let UsageRow {
        charge,
        owner,
        key,
        at,
        sku,
        model,
        currency,
        units,
        price,
        per,
        amount,
        details,
        notes,
    } = row;
    let UsageDetails {
        request_id,
        prompt_tokens,
        completion_tokens,
        execution_ms,
        // Left out, so that nodes of an earlier release compute the same digest. The sums by
        // session show a change of them.
        cached_tokens: _,
        session: _,
    } = details;
    let mut fields = FieldHasher(SipHasher13::new());
    fields.0.write(ENCODING_TAG);
    fields.0.write(charge.0.as_bytes());
    fields.0.write(owner.0.as_bytes());
    fields.add_optional(key.as_ref().map(|key| key.0.as_bytes().as_slice()));
    fields.0.write(&at.ms().to_le_bytes());
    fields.add_text(sku);
    fields.add_text(model);
    fields.add_text(currency.name());
    fields.0.write(&units.to_le_bytes());
    fields.0.write(&price.picos().to_le_bytes());
    fields.0.write(&units_of(*per).to_le_bytes());
    fields.0.write(&amount.nanos().to_le_bytes());
    fields.add_text(request_id);
    for count in [prompt_tokens, completion_tokens, execution_ms] {
        fields.add_optional(count.map(u64::to_le_bytes).as_ref().map(<[u8; 8]>::as_slice));
    }
    fields.add_text(notes);
    fields.0.finish().cast_signed()
}

struct FieldHasher(SipHasher13);

impl FieldHasher {
    /// Adds a text as every store keeps it: Postgres has no zero characters.
    fn add_text(&mut self, text: &str) {
        let text: Cow<'_, str> =
            if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() };
        self.0.write(&(text.len() as u64).to_le_bytes());
        self.0.write(text.as_bytes());
    }

    fn add_optional(&mut self, bytes: Option<&[u8]>) {
        self.0.write(&[u8::from(bytes.is_some())]);
        self.0.write(bytes.unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::fixture::{build_usage_row, today_at};

    fn usage_example() -> UsageRow {
        build_usage_row(1, today_at(5), 250)
    }

    #[test]
    fn the_encoding_of_stored_digests_never_changes() {
        assert_eq!(digest_usage_row(&usage_example()), -5_316_740_327_875_021_689);
    }

    #[test]
    fn a_change_of_any_field_is_found() {
        let row = usage_example();
        let stored = Some(digest_usage_row(&row));
        assert_eq!(DigestCheck::compare(&row, stored), DigestCheck::Matching);
        assert_eq!(DigestCheck::compare(&row, None), DigestCheck::Absent);
        let with = |details| UsageRow { details, ..row.clone() };
        let details = &row.details;
        let changed = [
            with(UsageDetails { request_id: "another".into(), ..details.clone() }),
            with(UsageDetails {
                request_id: format!("{}\0", details.request_id),
                ..details.clone()
            }),
            with(UsageDetails { prompt_tokens: None, ..details.clone() }),
            with(UsageDetails { completion_tokens: details.prompt_tokens, ..details.clone() }),
            with(UsageDetails { execution_ms: Some(0), ..details.clone() }),
            UsageRow { key: None, ..row.clone() },
            UsageRow { at: moment::Timestamp::from_ms(row.at.ms() + 1), ..row.clone() },
            UsageRow {
                sku: format!("{}{}", row.sku, row.model),
                model: String::new(),
                ..row.clone()
            },
            UsageRow { currency: money::BalanceCurrency::Diem, ..row.clone() },
            UsageRow { units: row.units + 1, ..row.clone() },
            UsageRow { per: money::PriceUnits::One, ..row.clone() },
            UsageRow { amount: money::Nano::from_nanos(row.amount.nanos() + 1), ..row.clone() },
            UsageRow { notes: "changed".into(), ..row.clone() },
        ];
        for changed in changed {
            assert_eq!(
                DigestCheck::compare(&changed, stored),
                DigestCheck::Differing,
                "{changed:?}"
            );
        }
    }

    #[test]
    fn a_text_that_postgres_cannot_keep_has_the_digest_of_what_it_keeps() {
        let row = |notes: &str| UsageRow { notes: notes.into(), ..usage_example() };
        assert_eq!(digest_usage_row(&row("a\0b")), digest_usage_row(&row("a\u{fffd}b")));
    }
}
