//! Picks the next action of callers, workers, operators and clocks.

use std::time::Duration;

use moment::Timestamp;
use money::{BalanceCurrency, Nano, WorkCost};
use uuid::Uuid;

use crate::account::PaymentNetwork;
use crate::allowance::AllowanceKind;
use crate::command::{BeyondPaid, ChargeSource, CreditCommand, HoldKind, HoldPayer, HoldRange};
use crate::id::{EntryId, HoldId, KeyId, OwnerId};
use crate::limit::{KeyTerms, LimitPeriod};
use crate::sim::oracle::SimulationOracle;
use crate::sim::random::SplitMixRandom;

const OWNERS: usize = 3;

/// Small, so that lots run empty and limits are reached all the time.
const AMOUNT_MAX: i64 = 2_000;

/// Advances the clock: mostly minutes, sometimes just before or to a midnight or a new month.
pub(crate) fn next_time(random: &mut SplitMixRandom, now: Timestamp) -> Timestamp {
    match random.below(40) {
        0 => Timestamp::start_of_day(now.unix_day() + 1).minus(Duration::from_millis(1)).max(now),
        1 => Timestamp::start_of_day(now.unix_day() + 1),
        2 if random.one_in(3) => Timestamp::start_of_month(now.unix_month() + 1),
        _ => now.plus(Duration::from_secs(random.below(1200) as u64)),
    }
}

pub(crate) fn next_command(
    random: &mut SplitMixRandom,
    oracle: &SimulationOracle,
    now: Timestamp,
) -> CreditCommand {
    let owner = OwnerId(Uuid::from_u128(1 + random.below(OWNERS) as u128));
    let entry = EntryId(random.uuid());
    match random.below(28) {
        0 => CreditCommand::TopUp {
            entry,
            owner,
            network: pick_network(random),
            amount: pick_amount(random),
        },
        1 | 2 => pick_grant(random, entry, owner, now),
        3 => {
            let kind = AllowanceKind::ALL[random.below(2)];
            let amount = random.nano(0, AMOUNT_MAX);
            CreditCommand::SetAllowance { entry, owner, kind, amount }
        }
        4 => CreditCommand::Sweep { entry },
        5 | 6 => pick_refund(random, oracle).unwrap_or_else(|| pick_hold(random, owner)),
        7 | 8 => oracle.pick_retry(random).unwrap_or_else(|| pick_hold(random, owner)),
        24 | 25 => pick_reversal(random, oracle, entry, owner),
        26 => CreditCommand::Restore {
            entry,
            owner,
            network: pick_network(random),
            amount: pick_amount(random),
        },
        27 => CreditCommand::CollectDebt { entry, owner, given: oracle.given(owner) },
        9..=14 => pick_hold_end(random, oracle, entry).unwrap_or_else(|| pick_hold(random, owner)),
        _ => pick_hold(random, owner),
    }
}

/// One of an owner's three keys, with limits of every kind that never change, or None.
fn pick_key(random: &mut SplitMixRandom, owner: OwnerId) -> Option<KeyTerms> {
    let index = random.below(4);
    let key = KeyId(Uuid::from_u128(owner.0.as_u128() * 100 + index as u128));
    let tight = Some(Nano::from_nanos(1_500));
    let loose = Some(Nano::from_nanos(6_000));
    let (limit_usd, limit_diem, period) = match index {
        0 => (tight, tight, LimitPeriod::Epoch),
        1 => (loose, None, LimitPeriod::Month),
        2 => (Some(Nano::from_nanos(20_000)), tight, LimitPeriod::Lifetime),
        _ => return None,
    };
    Some(KeyTerms { key, limit_usd, limit_diem, period })
}

fn pick_hold(random: &mut SplitMixRandom, owner: OwnerId) -> CreditCommand {
    let payer = HoldPayer { owner, key: pick_key(random, owner) };
    let most = random.nano(0, AMOUNT_MAX);
    let most = pick_cost(random, most);
    let quarter = |amount: Nano| Nano::from_nanos(amount.nanos() / 4);
    let least = WorkCost { usd: quarter(most.usd), diem: quarter(most.diem) };
    let want = match random.below(4) {
        0 => HoldRange::UpTo { least, most },
        1 if random.one_in(3) => HoldRange::Share { least, most },
        1 if random.one_in(20) => HoldRange::Exactly(Nano::from_nanos(-1).into()),
        _ => HoldRange::Exactly(most),
    };
    let kind = if random.one_in(3) { HoldKind::Job } else { HoldKind::Request };
    CreditCommand::Hold { hold: HoldId(random.uuid()), payer, want, kind }
}

fn pick_hold_end(
    random: &mut SplitMixRandom,
    oracle: &SimulationOracle,
    entry: EntryId,
) -> Option<CreditCommand> {
    let (hold, held) = oracle.any_hold(random)?;
    if random.one_in(5) {
        return Some(CreditCommand::Release { hold });
    }
    if random.one_in(5) {
        let most = random.nano(0, AMOUNT_MAX);
        let most = pick_cost(random, most);
        let want = HoldRange::Share { least: WorkCost::ZERO, most };
        return Some(CreditCommand::Raise { hold, want });
    }
    let held = held.total().nanos();
    let amount = match random.below(8) {
        0 => Nano::from_nanos(held),
        1 => random.nano(held, held + 500),
        2 if random.one_in(4) => Nano::from_nanos(-held - 1),
        _ => random.nano(0, held),
    };
    let cost = pick_cost(random, amount);
    Some(CreditCommand::Settle { entry, hold, cost })
}

/// A cost at par, or lower or higher in DIEM.
fn pick_cost(random: &mut SplitMixRandom, usd: Nano) -> WorkCost {
    let diem = match random.below(4) {
        0 => Nano::from_nanos(usd.nanos() * 3 / 4 + 1),
        1 => Nano::from_nanos(usd.nanos() * 2),
        _ => usd,
    };
    WorkCost { usd, diem }
}

fn pick_refund(random: &mut SplitMixRandom, oracle: &SimulationOracle) -> Option<CreditCommand> {
    let charge = oracle.any_charge(random)?;
    let source = match random.below(2) {
        0 => ChargeSource::Recent,
        _ => ChargeSource::Journal(oracle.charge(charge)?),
    };
    Some(CreditCommand::Refund { charge, source })
}

fn pick_reversal(
    random: &mut SplitMixRandom,
    oracle: &SimulationOracle,
    entry: EntryId,
    owner: OwnerId,
) -> CreditCommand {
    CreditCommand::Reverse {
        entry,
        owner,
        network: pick_network(random),
        amount: pick_amount(random),
        given: oracle.given(owner),
        beyond: if random.one_in(4) { BeyondPaid::Refuse } else { BeyondPaid::Owe },
    }
}

fn pick_grant(
    random: &mut SplitMixRandom,
    entry: EntryId,
    owner: OwnerId,
    now: Timestamp,
) -> CreditCommand {
    let currency = BalanceCurrency::ALL[random.below(4)];
    let expires_at = match random.below(3) {
        0 => None,
        _ => Some(now.plus(Duration::from_secs(random.below(100_000) as u64))),
    };
    CreditCommand::Grant { entry, owner, currency, amount: pick_amount(random), expires_at }
}

fn pick_amount(random: &mut SplitMixRandom) -> Nano {
    if random.one_in(30) { Nano::ZERO } else { random.nano(1, AMOUNT_MAX) }
}

fn pick_network(random: &mut SplitMixRandom) -> PaymentNetwork {
    let name = ["base", "solana"][random.below(2)];
    PaymentNetwork::parse(name).expect("the name is plain")
}
