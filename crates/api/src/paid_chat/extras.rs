//! Charges of an answer besides its tokens.

use credits::AMOUNT_MAX;
use ledger::ChargeLine;
use money::{Cost, Means, Nano};

/// Work done for a conversation, such as a web search. Charged with the answer; free without one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Extras {
    pub(super) lines: Vec<ChargeLine>,
    cost: Cost,
}

impl Extras {
    pub(crate) fn add(&mut self, line: ChargeLine, cost: Cost) {
        self.lines.push(line);
        self.cost = self.plus(cost);
    }

    /// A cost plus the extras.
    pub(super) fn plus(&self, cost: Cost) -> Cost {
        Cost {
            usd: cost.usd.saturating_add(self.cost.usd),
            diem: cost.diem.saturating_add(self.cost.diem),
        }
        .capped(AMOUNT_MAX)
    }

    /// The funds left for the answer. Extras cost the same in USD and DIEM, and use USD first.
    pub(super) fn taken_from(&self, means: Means) -> Means {
        let less = |from: Nano, amount: Nano| Nano::from_nanos(from.nanos() - amount.nanos());
        let in_usd = self.cost.usd.min(means.usd);
        let in_diem = less(self.cost.usd, in_usd).min(means.diem);
        Means { usd: less(means.usd, in_usd), diem: less(means.diem, in_diem) }
    }
}
