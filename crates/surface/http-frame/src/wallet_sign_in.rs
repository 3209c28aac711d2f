//! Wallet sign-in: verifies the header, uses up its nonce, and finds the wallet's account.

use std::sync::Arc;

use access::wallets::{self, NonceRefusal};
use access::{CallerCredential, CredentialHolder};
use axum::http::{HeaderMap, HeaderName};
use domain::limits::tiers::MinuteLimits;
use domain::limits::window::LimitSubject;
use moment::Timestamp;
use payments::TopUpRefusal;
use wallet::{
    ContractCheck, SignIn, SignInRefusal, VerifiedSignIn, WalletAddress, WalletVerdict,
    verify_sign_in,
};

use crate::app::AppState;
use crate::caller_limits;
use crate::payment::can_consume;
use crate::principal::Principal;
use crate::refusal::Refusal;
use crate::refusal::render::BoxError;
use crate::request_head::RequestHead;

/// The second name is for older clients.
static HEADERS: [HeaderName; 2] =
    [HeaderName::from_static("sign-in-with-x"), HeaderName::from_static("x-sign-in-with-x")];

/// The reason why a sign-in failed.
#[derive(Debug)]
pub enum SignInError {
    Refused(SignInRefusal),
    /// The sign-in could not be checked, because a dependency failed.
    Unknowable(BoxError),
    /// Too many sign-ins from this address.
    TooMany(Refusal),
    Frozen,
}

impl SignInError {
    /// The refusal of a failed sign-in. `refuse` makes the refusal of an invalid one.
    pub fn into_refusal(self, refuse: impl FnOnce(SignInRefusal) -> Refusal) -> Refusal {
        match self {
            SignInError::Refused(refusal) => refuse(refusal),
            SignInError::Unknowable(cause) => Refusal::unavailable(cause),
            SignInError::TooMany(refusal) => refusal,
            SignInError::Frozen => Refusal::frozen(),
        }
    }
}

/// Sign-ins per minute and address of wallets without a known balance. Each needs a signature
/// check, a read of the ledger and a durable write, and anyone can create wallets.
const UNPAID_SIGN_INS_A_MINUTE: u64 = 60;
/// Sign-ins per minute and address of wallets with a balance: one for each of their requests.
const PAID_SIGN_INS_A_MINUTE: u64 = 1_200;
/// Sign-ins per minute and address that need a call to a chain node.
const CONTRACT_CHECKS_A_MINUTE: u64 = 60;

impl From<SignInRefusal> for SignInError {
    fn from(refusal: SignInRefusal) -> SignInError {
        SignInError::Refused(refusal)
    }
}

/// True if a sign-in header is present.
pub fn is_present(headers: &HeaderMap) -> bool {
    HEADERS.iter().any(|name| headers.contains_key(name))
}

/// Returns the wallet that signed. The nonce is used up once the signature is valid, whatever
/// happens to the request.
pub async fn sign_in(
    app: &AppState,
    arrival: &RequestHead<'_>,
) -> Result<Arc<CredentialHolder>, SignInError> {
    let now = arrival.now;
    let header = read_header(arrival.headers).ok_or(SignInRefusal::InvalidPayload)?;
    let sign_in = SignIn::decode(header)?;
    let is_payer = is_known_payer(app, &sign_in, now);
    if is_payer {
        count_sign_in(app, arrival, "sign-in", PAID_SIGN_INS_A_MINUTE).await?;
    } else {
        count_sign_in(app, arrival, "unpaid-sign-in", UNPAID_SIGN_INS_A_MINUTE).await?;
    }
    let signed_in = match verify_sign_in(&app.wallets.rules, &sign_in, now)? {
        WalletVerdict::Verified(signed_in) => signed_in,
        WalletVerdict::NeedsContractCheck(unconfirmed) => {
            // A blocked address is not worth a call to a chain node.
            let blocked = app.failures.blocked_until(&Principal::Address(arrival.address), now);
            if blocked.is_some() {
                return Err(SignInRefusal::InvalidSignature.into());
            }
            count_sign_in(app, arrival, "contract", CONTRACT_CHECKS_A_MINUTE).await?;
            if !is_confirmed(app, &unconfirmed.check).await.map_err(to_sign_in_error)? {
                return Err(SignInRefusal::InvalidSignature.into());
            }
            unconfirmed.confirmed_by_contract()
        }
    };
    let wallet = signed_in.wallet;
    let store = app.store.as_ref();
    // Read the owner first: cheaper than a durable write.
    let owner = wallets::resolve_owner(store, wallet, now).await.map_err(to_sign_in_error)?;
    if owner.frozen.is_some() {
        return Err(SignInError::Frozen);
    }
    use_nonce(app, signed_in, now).await?;
    if !is_payer {
        // The owner's home may be another node.
        let balances = app.ledger.balances_anywhere(owner.id).await.map_err(to_sign_in_error)?;
        if can_consume(balances.total()) {
            app.wallets.payers.insert(wallet, now);
        }
    }
    Ok(Arc::new(CredentialHolder { proof: CallerCredential::Wallet(wallet), owner }))
}

/// True if the wallet that a sign-in claims to be, not verified yet, is known to have a balance.
fn is_known_payer(app: &AppState, sign_in: &SignIn, now: Timestamp) -> bool {
    let named = WalletAddress::parse(&sign_in.address);
    named.is_some_and(|wallet| app.wallets.payers.contains(wallet, now))
}

/// Counts against an address, before any costlier work.
async fn count_sign_in(
    app: &AppState,
    arrival: &RequestHead<'_>,
    what: &'static str,
    a_minute: u64,
) -> Result<(), SignInError> {
    let subject = LimitSubject::new(arrival.address, what);
    let allowed = MinuteLimits { requests: a_minute, tokens: None };
    let admitted = app.admit_anonymous(subject, allowed, arrival.now).await;
    admitted
        .map(drop)
        .map_err(|exceeded| SignInError::TooMany(caller_limits::refuse_rate_limited(&exceeded)))
}

/// Uses up a nonce. The store decides; recently used nonces are refused from memory.
async fn use_nonce(
    app: &AppState,
    signed_in: VerifiedSignIn,
    now: Timestamp,
) -> Result<(), SignInError> {
    let VerifiedSignIn { wallet, nonce, remember_nonce_until: until, .. } = signed_in;
    let replays = &app.wallets.replays;
    let known = (wallet, nonce.clone());
    if replays.contains(&known) {
        return Err(SignInRefusal::NonceReused.into());
    }
    match wallets::use_nonce(app.store.as_ref(), wallet, nonce, until).await {
        Ok(()) => {
            replays.insert(known, until, now);
            Ok(())
        }
        Err(NonceRefusal::Reused) => {
            replays.insert(known, until, now);
            Err(SignInRefusal::NonceReused.into())
        }
        Err(NonceRefusal::Unknowable(error)) => Err(to_sign_in_error(error)),
    }
}

fn to_sign_in_error(cause: impl Into<BoxError>) -> SignInError {
    SignInError::Unknowable(cause.into())
}

/// True if the contract wallet confirms the signature. Always false without a chain node.
pub async fn is_confirmed(app: &AppState, check: &ContractCheck) -> Result<bool, TopUpRefusal> {
    match &app.wallets.payments {
        Some(payments) => payments.contract_confirms(check).await,
        None => Ok(false),
    }
}

/// The value of the first header present; None if it was sent twice.
fn read_header(headers: &HeaderMap) -> Option<&[u8]> {
    let name = HEADERS.iter().find(|name| headers.contains_key(*name))?;
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { Some(value.as_bytes()) }
}
