//! Charges of an answer besides its tokens.

use ledger::ChargeLine;
use ledger_core::AMOUNT_MAX;
use money::{CurrencyFunds, Nano, WorkCost};

/// Work done for a conversation, such as a web search. Charged with the answer; free without one.
#[derive(Debug, Clone, Default)]
pub struct ExtraCharges {
    pub(super) lines: Vec<ChargeLine>,
    cost: WorkCost,
}

impl ExtraCharges {
    pub fn add_line(&mut self, line: ChargeLine, cost: WorkCost) {
        self.lines.push(line);
        self.cost = self.add_to_cost(cost);
    }

    /// A cost plus the extras.
    pub(super) fn add_to_cost(&self, cost: WorkCost) -> WorkCost {
        WorkCost {
            usd: cost.usd.saturating_add(self.cost.usd),
            diem: cost.diem.saturating_add(self.cost.diem),
        }
        .capped(AMOUNT_MAX)
    }

    /// The funds left for the answer. Extras cost the same in USD and DIEM, and use USD first.
    pub(super) fn subtract_from(&self, means: CurrencyFunds) -> CurrencyFunds {
        let less = |from: Nano, amount: Nano| Nano::from_nanos(from.nanos() - amount.nanos());
        let in_usd = self.cost.usd.min(means.usd);
        let in_diem = less(self.cost.usd, in_usd).min(means.diem);
        CurrencyFunds { usd: less(means.usd, in_usd), diem: less(means.diem, in_diem) }
    }
}
