//! The cursor of the usage history: a position and the parameters of the query, as opaque text.

use moment::Timestamp;
use money::BalanceCurrency;
use store::usage::UsageCursor;

/// The position and the parameters of the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HistoryCursor {
    pub(super) currency: Option<BalanceCurrency>,
    pub(super) from: Timestamp,
    pub(super) until: Timestamp,
    pub(super) page_size: u32,
    pub(super) after: Option<UsageCursor>,
}

impl HistoryCursor {
    /// Fields joined by `_`. Neither secret nor signed: a changed cursor only makes another query
    /// about the caller's own account.
    pub(super) fn write(&self) -> String {
        let currency = self.currency.map_or("all", BalanceCurrency::name).replace('_', "-");
        let place = self.after.unwrap_or(UsageCursor { at: Timestamp::from_ms(0), seq: 0 });
        let HistoryCursor { from, until, page_size, .. } = self;
        let (from, until, at) = (from.ms(), until.ms(), place.at.ms());
        format!("1_{currency}_{from}_{until}_{page_size}_{at}_{}", place.seq)
    }

    pub(super) fn read(text: &str) -> Option<HistoryCursor> {
        let fields: Vec<&str> = text.split('_').collect();
        let ["1", currency, from, until, page_size, at, seq] = fields.as_slice() else {
            return None;
        };
        let currency = match *currency {
            "all" => None,
            name => Some(BalanceCurrency::from_name(&name.replace('-', "_"))?),
        };
        let moment = |text: &str| text.parse().ok().map(Timestamp::from_ms);
        let page_size = page_size.parse().ok().filter(|size| (10..=1000).contains(size))?;
        let after = Some(UsageCursor { at: moment(at)?, seq: seq.parse().ok()? });
        Some(HistoryCursor {
            currency,
            from: moment(from)?,
            until: moment(until)?,
            page_size,
            after,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_as_it_was_written() {
        for currency in [None, Some(BalanceCurrency::Usd), Some(BalanceCurrency::Bundled)] {
            let cursor = HistoryCursor {
                currency,
                from: Timestamp::from_ms(0),
                until: Timestamp::MAX,
                page_size: 10,
                after: Some(UsageCursor { at: Timestamp::from_ms(1_800_000_000_000), seq: 42 }),
            };
            let text = cursor.write();
            assert!(
                text.chars().all(|it| it.is_ascii_alphanumeric() || "_-".contains(it)),
                "{text}"
            );
            assert_eq!(HistoryCursor::read(&text), Some(cursor));
        }
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        for text in
            ["", "1", "2_all_0_0_10_0_0", "1_all_0_0_9_0_0", "1_EUR_0_0_10_0_0", "1_all_x_0_10_0_0"]
        {
            assert_eq!(HistoryCursor::read(text), None, "{text}");
        }
    }
}
