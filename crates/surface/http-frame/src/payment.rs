//! Money in responses: payment refusals, costs and the remaining balance.

use domain::catalogue::CatalogueModel;
use domain::pricing::{TokenCounts, TokenPrice};
use engine::EngineUsage;
use ledger::{ChargeLine, HoldRefused, WorkCharge};
use ledger_core::{ChargeReceipt, CommandRejection, LimitClass};
use money::{BalanceCurrency, Nano, PriceUnits};
use store::usage::UsageDetails;
use wire::chat::{CompletionTokensDetails, Cost, PromptTokensDetails, TokenUsage};
use wire::errors::SpendLimitError;

use crate::refusal::Refusal;
use crate::settings::ApiSettings;

/// Response header with the remaining balance in USD.
pub const BALANCE_REMAINING: &str = "x-balance-remaining";

/// Ten cents: the smallest useful balance.
pub const CONSUMABLE_MIN: Nano = Nano::from_nanos(100_000_000);

pub fn can_consume(spendable: Nano) -> bool {
    CONSUMABLE_MIN <= spendable
}

/// The refusal of a caller that cannot pay for the work.
pub fn refuse_hold(settings: &ApiSettings, refused: HoldRefused) -> Refusal {
    match refused {
        HoldRefused::Unavailable => Refusal::unavailable(refused),
        HoldRefused::Rejected(rejection) => match rejection {
            CommandRejection::Insufficient { available, wanted } => {
                Refusal::insufficient_balance(format!(
                    "Insufficient USD or Diem balance to complete request. Up to ${wanted} is \
                     needed and ${available} is available. {}",
                    settings.ways_to_pay(),
                ))
            }
            CommandRejection::KeyLimit { class, limit, period, resets_at, .. } => {
                let name = class.name();
                Refusal::spend_limit(&SpendLimitError {
                    error: format!(
                        "API key {name} spend limit exceeded. Your account may still have {name} \
                         balance, but this API key has reached its configured {name} spending \
                         limit."
                    ),
                    code: match class {
                        LimitClass::Usd => "API_KEY_USD_SPEND_LIMIT_EXCEEDED",
                        LimitClass::Diem => "API_KEY_DIEM_SPEND_LIMIT_EXCEEDED",
                    },
                    limit: limit.as_f64(),
                    limit_period: period.name(),
                    resets_at: resets_at.map(|at| at.to_string()),
                })
            }
            CommandRejection::TooManyHolds => Refusal::unavailable(rejection),
            other => Refusal::internal(other),
        },
    }
}

/// The charge for work priced by tokens.
pub fn token_charge(model: &CatalogueModel, price: &TokenPrice, usage: EngineUsage) -> WorkCharge {
    let lines = price.lines(to_token_counts(usage)).into_iter().map(|line| ChargeLine {
        sku: format!("{}-llm-{}-mtoken", model.id, line.class.name()),
        units: line.tokens,
        rate: line.rate,
        per: PriceUnits::Million,
    });
    let details = UsageDetails {
        prompt_tokens: Some(usage.prompt()),
        completion_tokens: Some(usage.completion()),
        cached_tokens: Some(usage.cached()).filter(|cached| 0 < *cached),
        ..UsageDetails::default()
    };
    WorkCharge {
        lines: lines.collect(),
        model: model.id.clone(),
        details,
        notes: "API Inference".to_owned(),
    }
}

/// The charge for work priced by one kind of unit.
pub fn unit_charge(model: &CatalogueModel, line: ChargeLine) -> WorkCharge {
    lines_charge(model, vec![line])
}

/// The charge for work priced by several kinds of units.
pub fn lines_charge(model: &CatalogueModel, lines: Vec<ChargeLine>) -> WorkCharge {
    let (details, notes) = (UsageDetails::default(), "API Inference".to_owned());
    WorkCharge { lines, model: model.id.clone(), details, notes }
}

pub(crate) fn to_token_counts(usage: EngineUsage) -> TokenCounts {
    TokenCounts {
        prompt: usage.prompt(),
        cached: usage.cached(),
        cache_write: usage.cache_creation(),
        cache_write_1h: usage.cache_creation_1h(),
        completion: usage.completion(),
    }
}

/// The tokens of an answer in the response's form.
pub fn token_usage(usage: EngineUsage) -> TokenUsage {
    TokenUsage {
        prompt_tokens: usage.prompt(),
        completion_tokens: usage.completion(),
        total_tokens: usage.total(),
        prompt_tokens_details: PromptTokensDetails {
            cached_tokens: usage.cached(),
            cache_creation_input_tokens: usage.cache_creation(),
        },
        completion_tokens_details: CompletionTokensDetails { reasoning_tokens: usage.reasoning() },
    }
}

/// The cost of a response: the DIEM paid, and the sum of all other currencies as USD.
pub fn to_cost(receipt: &ChargeReceipt) -> Cost {
    let diem = receipt.paid(BalanceCurrency::Diem);
    let others = [BalanceCurrency::Usd, BalanceCurrency::Bundled, BalanceCurrency::Vcu];
    let usd = others.into_iter().fold(Nano::ZERO, |sum, it| sum.saturating_add(receipt.paid(it)));
    Cost { usd: usd.as_f64(), diem: diem.as_f64() }
}

/// The value of [`BALANCE_REMAINING`]: the sum of all currencies, since each buys the same work.
pub fn balance_remaining(receipt: &ChargeReceipt) -> String {
    receipt.remaining.total().to_string()
}
