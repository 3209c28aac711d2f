//! The charges of an answer with tools, turn by turn.

use engine::EngineUsage;
use ledger::{ChargeLine, WorkCharge};
use ledger_core::AMOUNT_MAX;
use money::WorkCost;

use super::settle::ChatSettlement;
use super::{ChatCandidate, ExtraCharges};
use crate::paid_work::HeldFunds;
use crate::refusal::inference::InferenceFailure;

pub(super) struct TurnTab {
    /// The lines of all turns and calls so far, after those of the request.
    extras: ExtraCharges,
    /// The lines of the request, such as a web search. They are charged with an answer only.
    lines_of_request: usize,
    usage: EngineUsage,
    is_answered: bool,
}

impl TurnTab {
    pub(super) fn new(extras: ExtraCharges) -> TurnTab {
        let lines_of_request = extras.lines.len();
        TurnTab { extras, lines_of_request, usage: EngineUsage::default(), is_answered: false }
    }

    /// All that is to be charged, as costs beside those of the next turn.
    pub(super) fn extras(&self) -> &ExtraCharges {
        &self.extras
    }

    /// The tokens of all turns.
    pub(super) fn usage(&self) -> EngineUsage {
        self.usage
    }

    /// True if nothing was done that costs anything.
    pub(super) fn is_empty(&self) -> bool {
        !self.is_answered && self.extras.lines.len() == self.lines_of_request
    }

    pub(super) fn add_turn(&mut self, charge: WorkCharge, usage: EngineUsage) {
        self.is_answered = true;
        self.usage = self.usage.plus_request(usage);
        let cost = charge.total().unwrap_or(WorkCost::at_par(AMOUNT_MAX));
        self.extras.add_lines(charge.lines, cost);
    }

    pub(super) fn add_call(&mut self, line: ChargeLine, cost: WorkCost) {
        self.extras.add_lines(vec![line], cost);
    }

    /// True if the held money pays for one more call.
    pub(super) fn can_pay(&self, cost: WorkCost, funds: &HeldFunds) -> bool {
        cost.is_free() || cost.is_within(self.extras.subtract_from(funds.cost_max()))
    }

    /// True if the held money pays for a turn of one of the models.
    pub(super) fn can_go_on(&self, candidates: &[ChatCandidate], funds: &HeldFunds) -> bool {
        let means = self.extras.subtract_from(funds.cost_max());
        candidates.iter().any(|it| it.quote.answer_within(&it.price, means) != Some(0))
    }

    /// Charges for everything at once. `charge` has the sum of the tokens and other lines.
    pub(super) async fn settle(
        self,
        funds: HeldFunds,
        charge: WorkCharge,
    ) -> Result<ChatSettlement, InferenceFailure> {
        let usage = self.usage;
        if self.is_empty() {
            let receipt = funds.pay(0, WorkCharge::default()).await?;
            return Ok(ChatSettlement { usage, receipt });
        }
        let skipped = if self.is_answered { 0 } else { self.lines_of_request };
        let lines = merge_lines(self.extras.lines.into_iter().skip(skipped));
        let receipt = funds.pay(usage.total(), WorkCharge { lines, ..charge }).await?;
        Ok(ChatSettlement { usage, receipt })
    }
}

/// One line for each kind of work and price.
fn merge_lines(lines: impl Iterator<Item = ChargeLine>) -> Vec<ChargeLine> {
    let mut merged: Vec<ChargeLine> = Vec::new();
    for line in lines {
        let is_same =
            |it: &&mut ChargeLine| it.sku == line.sku && it.rate == line.rate && it.per == line.per;
        match merged.iter_mut().find(is_same) {
            Some(same) => same.units = same.units.saturating_add(line.units),
            None => merged.push(line),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use money::{Price, PriceUnits, UnitRate};

    use super::*;

    #[test]
    fn lines_of_the_same_work_and_price_are_one() {
        let line = |sku: &str, units, price| ChargeLine {
            sku: sku.to_owned(),
            units,
            rate: UnitRate::at_par(Price::parse(price, PriceUnits::One).unwrap()),
            per: PriceUnits::One,
        };
        let lines = [line("a", 1, "1"), line("b", 2, "1"), line("a", 3, "1"), line("a", 4, "2")];
        let merged = merge_lines(lines.into_iter());
        assert_eq!(merged, [line("a", 4, "1"), line("b", 2, "1"), line("a", 4, "2")]);
    }
}
