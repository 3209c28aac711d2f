//! A bill: units times prices, added up exactly and rounded once.

use std::fmt;

use crate::decimal::divide_half_even;
use crate::nano::Nano;
use crate::price::Price;

const PICOS_PER_NANO: i128 = 1000;

/// A number of units and the price of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BillLine {
    pub units: u64,
    pub price: Price,
}

/// The lines of one charge. Rounding happens once, for the total: a bill of many tiny lines costs
/// what one line of their sum would.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bill {
    lines: Vec<BillLine>,
}

/// The total of a bill is beyond what an amount can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BillTooLarge;

impl fmt::Display for BillTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bill is beyond what an amount can hold: check the units and the prices")
    }
}

impl std::error::Error for BillTooLarge {}

impl Bill {
    pub fn new(lines: Vec<BillLine>) -> Bill {
        Bill { lines }
    }

    pub fn add(&mut self, units: u64, price: Price) {
        self.lines.push(BillLine { units, price });
    }

    pub fn lines(&self) -> &[BillLine] {
        &self.lines
    }

    /// The sum of all lines, rounded half to even to a whole nano-unit.
    pub fn total(&self) -> Result<Nano, BillTooLarge> {
        let mut picos = 0_i128;
        for line in &self.lines {
            picos = picos.checked_add(line.picos()).ok_or(BillTooLarge)?;
        }
        let nanos = divide_half_even(picos, PICOS_PER_NANO);
        i64::try_from(nanos).map(Nano::from_nanos).map_err(|_| BillTooLarge)
    }

    /// The amount of each line, such that they add up to the total: every line is rounded down, and
    /// the missing nanos go to the lines with the largest remainders.
    pub fn line_amounts(&self) -> Result<Vec<Nano>, BillTooLarge> {
        let total = self.total()?;
        let mut nanos = Vec::with_capacity(self.lines.len());
        let mut by_loss = Vec::with_capacity(self.lines.len());
        let mut missing = i128::from(total.nanos());
        for (index, line) in self.lines.iter().enumerate() {
            let floor = line.picos().div_euclid(PICOS_PER_NANO);
            let loss = line.picos().rem_euclid(PICOS_PER_NANO);
            missing -= floor;
            nanos.push(i64::try_from(floor).map_err(|_| BillTooLarge)?);
            by_loss.push((std::cmp::Reverse(loss), index));
        }
        by_loss.sort_unstable();
        let receivers = usize::try_from(missing).map_err(|_| BillTooLarge)?;
        for (_, index) in by_loss.into_iter().take(receivers) {
            nanos[index] = nanos[index].checked_add(1).ok_or(BillTooLarge)?;
        }
        Ok(nanos.into_iter().map(Nano::from_nanos).collect())
    }
}

impl BillLine {
    /// The exact cost. The product of a u64 and an i64 that is not negative always fits.
    fn picos(self) -> i128 {
        i128::from(self.units) * i128::from(self.price.picos())
    }
}
