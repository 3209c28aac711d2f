//! Charges of an answer besides its tokens.

use ledger::ChargeLine;
use ledger_core::AMOUNT_MAX;
use money::{BalanceCurrency, CurrencyFunds, Nano, WorkCost};

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

    pub(super) fn add_lines(&mut self, lines: Vec<ChargeLine>, cost: WorkCost) {
        self.lines.extend(lines);
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

    /// The funds left for the answer. Extras that cost the same in USD and DIEM use USD first;
    /// others are paid as a charge is, which uses DIEM first.
    pub(super) fn subtract_from(&self, means: CurrencyFunds) -> CurrencyFunds {
        let less = |from: Nano, amount: Nano| Nano::from_nanos(from.nanos() - amount.nanos());
        if self.cost.usd == self.cost.diem {
            let in_usd = self.cost.usd.min(means.usd);
            let in_diem = less(self.cost.usd, in_usd).min(means.diem);
            return CurrencyFunds { usd: less(means.usd, in_usd), diem: less(means.diem, in_diem) };
        }
        let pays_diem = means.diem.is_positive() && self.cost.diem.is_positive();
        let in_diem = if pays_diem { self.cost.diem.min(means.diem) } else { Nano::ZERO };
        let left = if pays_diem {
            self.cost.after_payment(in_diem, BalanceCurrency::Diem)
        } else {
            self.cost
        };
        let in_usd = left.usd.min(means.usd);
        CurrencyFunds { usd: less(means.usd, in_usd), diem: less(means.diem, in_diem) }
    }
}
