//! What is charged with an answer beside its tokens.

use credits::AMOUNT_MAX;
use ledger::ChargeLine;
use money::{Cost, Means, Nano};

/// Work that was done for a conversation, such as a search. It is paid with the answer, or not at
/// all.
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

    /// A cost with these on top.
    pub(super) fn plus(&self, cost: Cost) -> Cost {
        Cost {
            usd: cost.usd.saturating_add(self.cost.usd),
            diem: cost.diem.saturating_add(self.cost.diem),
        }
        .capped(AMOUNT_MAX)
    }

    /// What is left for the answer. Extras cost as much in either currency.
    pub(super) fn taken_from(&self, means: Means) -> Means {
        let less = |from: Nano, amount: Nano| Nano::from_nanos(from.nanos() - amount.nanos());
        let in_usd = self.cost.usd.min(means.usd);
        let in_diem = less(self.cost.usd, in_usd).min(means.diem);
        Means { usd: less(means.usd, in_usd), diem: less(means.diem, in_diem) }
    }
}
