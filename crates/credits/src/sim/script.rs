//! Picks the next action of callers, workers, operators and clocks.

use std::time::Duration;

use moment::Timestamp;
use money::{Cost, Currency, Nano};
use uuid::Uuid;

use crate::account::Network;
use crate::allowance::AllowanceKind;
use crate::command::{ChargeSource, Command, HoldKind, Payer, Want};
use crate::id::{EntryId, HoldId, KeyId, OwnerId};
use crate::limit::{KeyTerms, LimitPeriod};
use crate::sim::oracle::Oracle;
use crate::sim::random::Random;

const OWNERS: usize = 3;

/// Small, so that lots run empty and limits are reached all the time.
const AMOUNT_MAX: i64 = 2_000;

/// Advances the clock: mostly minutes, sometimes just before or to a midnight or a new month.
pub(crate) fn next_time(random: &mut Random, now: Timestamp) -> Timestamp {
    match random.below(40) {
        0 => Timestamp::start_of_day(now.day() + 1).minus(Duration::from_millis(1)).max(now),
        1 => Timestamp::start_of_day(now.day() + 1),
        2 if random.one_in(3) => Timestamp::start_of_month(now.month() + 1),
        _ => now.plus(Duration::from_secs(random.below(1200) as u64)),
    }
}

pub(crate) fn next_command(random: &mut Random, oracle: &Oracle, now: Timestamp) -> Command {
    let owner = OwnerId(Uuid::from_u128(1 + random.below(OWNERS) as u128));
    let entry = EntryId(random.uuid());
    match random.below(24) {
        0 => Command::TopUp { entry, owner, network: network(random), amount: amount(random) },
        1 | 2 => grant(random, entry, owner, now),
        3 => {
            let kind = AllowanceKind::ALL[random.below(2)];
            let amount = random.nano(0, AMOUNT_MAX);
            Command::SetAllowance { entry, owner, kind, amount }
        }
        4 => Command::Sweep { entry },
        5 | 6 => refund(random, oracle).unwrap_or_else(|| hold(random, owner)),
        7 | 8 => oracle.retry(random).unwrap_or_else(|| hold(random, owner)),
        9..=14 => end_hold(random, oracle, entry).unwrap_or_else(|| hold(random, owner)),
        _ => hold(random, owner),
    }
}

/// One of an owner's three keys, with limits of every kind that never change, or None.
fn key(random: &mut Random, owner: OwnerId) -> Option<KeyTerms> {
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

fn hold(random: &mut Random, owner: OwnerId) -> Command {
    let payer = Payer { owner, key: key(random, owner) };
    let most = random.nano(0, AMOUNT_MAX);
    let most = cost(random, most);
    let quarter = |amount: Nano| Nano::from_nanos(amount.nanos() / 4);
    let want = match random.below(4) {
        0 => Want::UpTo { least: Cost { usd: quarter(most.usd), diem: quarter(most.diem) }, most },
        1 if random.one_in(20) => Want::Exactly(Nano::from_nanos(-1).into()),
        _ => Want::Exactly(most),
    };
    let kind = if random.one_in(3) { HoldKind::Job } else { HoldKind::Request };
    Command::Hold { hold: HoldId(random.uuid()), payer, want, kind }
}

fn end_hold(random: &mut Random, oracle: &Oracle, entry: EntryId) -> Option<Command> {
    let (hold, held) = oracle.any_hold(random)?;
    if random.one_in(5) {
        return Some(Command::Release { hold });
    }
    let held = held.total().nanos();
    let amount = match random.below(8) {
        0 => Nano::from_nanos(held),
        1 => random.nano(held, held + 500),
        2 if random.one_in(4) => Nano::from_nanos(-held - 1),
        _ => random.nano(0, held),
    };
    let cost = cost(random, amount);
    Some(Command::Settle { entry, hold, cost })
}

/// A cost at par, or lower or higher in DIEM.
fn cost(random: &mut Random, usd: Nano) -> Cost {
    let diem = match random.below(4) {
        0 => Nano::from_nanos(usd.nanos() * 3 / 4 + 1),
        1 => Nano::from_nanos(usd.nanos() * 2),
        _ => usd,
    };
    Cost { usd, diem }
}

fn refund(random: &mut Random, oracle: &Oracle) -> Option<Command> {
    let charge = oracle.any_charge(random)?;
    let source = match random.below(2) {
        0 => ChargeSource::Recent,
        _ => ChargeSource::Journal(oracle.charge(charge)?),
    };
    Some(Command::Refund { charge, source })
}

fn grant(random: &mut Random, entry: EntryId, owner: OwnerId, now: Timestamp) -> Command {
    let currency = Currency::ALL[random.below(4)];
    let expires_at = match random.below(3) {
        0 => None,
        _ => Some(now.plus(Duration::from_secs(random.below(100_000) as u64))),
    };
    Command::Grant { entry, owner, currency, amount: amount(random), expires_at }
}

fn amount(random: &mut Random) -> Nano {
    if random.one_in(30) { Nano::ZERO } else { random.nano(1, AMOUNT_MAX) }
}

fn network(random: &mut Random) -> Network {
    let name = ["base", "solana"][random.below(2)];
    Network::parse(name).expect("the name is plain")
}
