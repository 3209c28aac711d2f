//! Sums over usage rows. Amounts are added as integers and become floats only at the end.

use std::collections::BTreeMap;

use engine::SessionId;
use ledger_core::KeyId;
use moment::Timestamp;
use money::{BalanceCurrency, Nano};
use serde_json::{Map, Value, json};
use store::usage::{DayRange, KeyUsage, ModelUsage, SessionUsage};
use wire::billing::{Breakdown, DateTotals, KeyTotals, ModelTotals, SessionTotals};

/// Entries of a "top" list.
pub(super) const TOP: usize = 10;

/// Amounts in DIEM, and in all other currencies as USD.
#[derive(Debug, Default, Clone, Copy)]
struct SpendingTotals {
    usd: Nano,
    diem: Nano,
    units: u64,
}

impl SpendingTotals {
    fn add_amount(&mut self, currency: BalanceCurrency, amount: Nano, units: u64) {
        let sum = match currency {
            BalanceCurrency::Diem => &mut self.diem,
            BalanceCurrency::Usd | BalanceCurrency::Bundled | BalanceCurrency::Vcu => &mut self.usd,
        };
        *sum = sum.saturating_add(amount);
        self.units = self.units.saturating_add(units);
    }

    fn total(&self) -> Nano {
        self.usd.saturating_add(self.diem)
    }
}

pub(super) fn by_date(rows: &[ModelUsage], days: DayRange) -> Vec<DateTotals> {
    let mut spent: BTreeMap<i64, SpendingTotals> =
        (days.first..=days.last).map(|day| (day, SpendingTotals::default())).collect();
    for row in rows {
        spent.entry(row.day).or_default().add_amount(row.currency, row.amount, row.units);
    }
    let totals = spent.into_iter().map(|(day, spent)| DateTotals {
        date: Timestamp::start_of_day(day).date(),
        usd: spent.usd.as_f64(),
        diem: spent.diem.as_f64(),
    });
    totals.collect()
}

/// Totals per model, the most expensive first.
pub(super) fn by_model(
    rows: &[ModelUsage],
    model_type: impl Fn(&str) -> Option<String>,
) -> Vec<ModelTotals> {
    let mut models: BTreeMap<&str, BTreeMap<&str, SpendingTotals>> = BTreeMap::new();
    for row in rows {
        let skus = models.entry(&row.model).or_default();
        skus.entry(&row.sku).or_default().add_amount(row.currency, row.amount, row.units);
    }
    let mut totals: Vec<(Nano, ModelTotals)> = Vec::new();
    for (model, skus) in models {
        let mut sum = SpendingTotals::default();
        for spent in skus.values() {
            sum.usd = sum.usd.saturating_add(spent.usd);
            sum.diem = sum.diem.saturating_add(spent.diem);
            sum.units = sum.units.saturating_add(spent.units);
        }
        let breakdown = skus.iter().map(|(sku, spent)| Breakdown {
            kind: (*sku).to_owned(),
            usd: spent.usd.as_f64(),
            diem: spent.diem.as_f64(),
            units: spent.units as f64,
        });
        let total = ModelTotals {
            model_name: model.to_owned(),
            unit_type: unit_type(skus.keys()),
            model_type: model_type(model),
            total_usd: sum.usd.as_f64(),
            total_diem: sum.diem.as_f64(),
            total_units: sum.units as f64,
            breakdown: if 1 < skus.len() { breakdown.collect() } else { Vec::new() },
        };
        totals.push((sum.total(), total));
    }
    sort_by_amount(totals)
}

/// Totals per key, the most expensive first.
pub(super) fn by_key(rows: &[KeyUsage]) -> Vec<KeyTotals> {
    let mut keys: BTreeMap<Option<KeyId>, (String, SpendingTotals)> = BTreeMap::new();
    for row in rows {
        let (name, spent) = keys.entry(row.key).or_default();
        *name = key_name(row);
        spent.add_amount(row.currency, row.amount, row.units);
    }
    let totals = keys.into_iter().map(|(key, (description, spent))| {
        let total = KeyTotals {
            api_key_id: key.map(|key| key.0.to_string()),
            description,
            total_usd: spent.usd.as_f64(),
            total_diem: spent.diem.as_f64(),
            total_units: spent.units as f64,
        };
        (spent.total(), total)
    });
    sort_by_amount(totals.collect())
}

pub(super) fn of_session(usage: &SessionUsage) -> SessionTotals {
    SessionTotals {
        session_id: SessionId(usage.session).to_string(),
        total_usd: usage.usd.as_f64(),
        total_diem: usage.diem.as_f64(),
        total_units: usage.units as f64,
        requests: usage.requests,
        input_tokens: usage.input_tokens,
        cached_tokens: usage.cached_tokens,
        output_tokens: usage.output_tokens,
        first_at: usage.first.map(|first| first.to_string()),
        last_at: usage.last.map(|last| last.to_string()),
    }
}

pub(super) fn model_days(rows: &[ModelUsage], days: DayRange) -> Vec<Map<String, Value>> {
    build_daily_rows(days, rows.iter().map(|row| (row.day, row.model.clone(), row.amount)))
}

pub(super) fn key_days(rows: &[KeyUsage], days: DayRange) -> Vec<Map<String, Value>> {
    build_daily_rows(days, rows.iter().map(|row| (row.day, key_name(row), row.amount)))
}

/// One row per day: `date` in Unix milliseconds, then the amount of each name with spending.
fn build_daily_rows(
    days: DayRange,
    rows: impl Iterator<Item = (i64, String, Nano)>,
) -> Vec<Map<String, Value>> {
    let mut spent: BTreeMap<i64, BTreeMap<String, Nano>> =
        (days.first..=days.last).map(|day| (day, BTreeMap::new())).collect();
    for (day, name, amount) in rows {
        let sum = spent.entry(day).or_default().entry(name).or_default();
        *sum = sum.saturating_add(amount);
    }
    let rows = spent.into_iter().map(|(day, names)| {
        let date = json!(Timestamp::start_of_day(day).ms());
        let mut row = Map::from_iter([("date".to_owned(), date)]);
        row.extend(names.into_iter().map(|(name, amount)| (name, json!(amount.as_f64()))));
        row
    });
    rows.collect()
}

fn key_name(row: &KeyUsage) -> String {
    match (&row.description, row.key) {
        (Some(description), _) if !description.is_empty() => description.clone(),
        (_, Some(key)) => key.0.to_string(),
        (_, None) => "Wallet".to_owned(),
    }
}

/// The unit at the end of the SKUs, such as `mtoken`; `units` if they differ.
fn unit_type<'a>(skus: impl Iterator<Item = &'a &'a str>) -> String {
    let mut units: Vec<&str> = skus.map(|sku| sku.rsplit('-').next().unwrap_or(sku)).collect();
    units.dedup();
    match units.as_slice() {
        [unit] => (*unit).to_owned(),
        _ => "units".to_owned(),
    }
}

fn sort_by_amount<T>(mut totals: Vec<(Nano, T)>) -> Vec<T> {
    totals.sort_by_key(|(spent, _)| std::cmp::Reverse(*spent));
    totals.into_iter().map(|(_, total)| total).collect()
}
