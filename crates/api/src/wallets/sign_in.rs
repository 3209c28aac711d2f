//! Wallet sign-in: verifies the header, uses up its nonce, and finds the wallet's account.

use std::sync::Arc;

use access::wallets::{self, NonceRefused};
use access::{Holder, Proof};
use axum::http::{HeaderMap, HeaderName};
use domain::limits::tiers::Allowed;
use domain::limits::window::Subject;
use moment::Timestamp;
use payments::TopUpRefused;
use wallet::{
    ContractCheck, SignIn, SignInRefusal, SignedIn, Verdict, WalletAddress, verify_sign_in,
};

use crate::app::App;
use crate::arrival::Arrival;
use crate::payment::can_consume;
use crate::principal::Principal;
use crate::refusal::Refusal;
use crate::refusal::render::BoxError;
use crate::standing;

/// The second name is for older clients.
static HEADERS: [HeaderName; 2] =
    [HeaderName::from_static("sign-in-with-x"), HeaderName::from_static("x-sign-in-with-x")];

/// The reason why a sign-in failed.
#[derive(Debug)]
pub(crate) enum SignInFailed {
    Refused(SignInRefusal),
    /// The sign-in could not be checked, because a dependency failed.
    Unknowable(BoxError),
    /// Too many sign-ins from this address.
    TooMany(Refusal),
    Frozen,
}

impl SignInFailed {
    /// The refusal of a failed sign-in. `refuse` makes the refusal of an invalid one.
    pub(crate) fn into_refusal(self, refuse: impl FnOnce(SignInRefusal) -> Refusal) -> Refusal {
        match self {
            SignInFailed::Refused(refusal) => refuse(refusal),
            SignInFailed::Unknowable(cause) => Refusal::unavailable(cause),
            SignInFailed::TooMany(refusal) => refusal,
            SignInFailed::Frozen => Refusal::frozen(),
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

impl From<SignInRefusal> for SignInFailed {
    fn from(refusal: SignInRefusal) -> SignInFailed {
        SignInFailed::Refused(refusal)
    }
}

/// True if a sign-in header is present.
pub(crate) fn is_shown(headers: &HeaderMap) -> bool {
    HEADERS.iter().any(|name| headers.contains_key(name))
}

/// Returns the wallet that signed. The nonce is used up once the signature is valid, whatever
/// happens to the request.
pub(crate) async fn sign_in(app: &App, arrival: &Arrival<'_>) -> Result<Arc<Holder>, SignInFailed> {
    let now = arrival.now;
    let header = header(arrival.headers).ok_or(SignInRefusal::InvalidPayload)?;
    let sign_in = SignIn::decode(header)?;
    let is_payer = is_known_payer(app, &sign_in, now);
    if is_payer {
        admit(app, arrival, "sign-in", PAID_SIGN_INS_A_MINUTE).await?;
    } else {
        admit(app, arrival, "unpaid-sign-in", UNPAID_SIGN_INS_A_MINUTE).await?;
    }
    let signed_in = match verify_sign_in(&app.wallets.rules, &sign_in, now)? {
        Verdict::Verified(signed_in) => signed_in,
        Verdict::NeedsContractCheck(unconfirmed) => {
            // A blocked address is not worth a call to a chain node.
            let blocked = app.failures.blocked_until(&Principal::Address(arrival.address), now);
            if blocked.is_some() {
                return Err(SignInRefusal::InvalidSignature.into());
            }
            admit(app, arrival, "contract", CONTRACT_CHECKS_A_MINUTE).await?;
            if !is_confirmed(app, &unconfirmed.check).await.map_err(unknowable)? {
                return Err(SignInRefusal::InvalidSignature.into());
            }
            unconfirmed.confirmed_by_contract()
        }
    };
    let wallet = signed_in.wallet;
    let store = app.store.as_ref();
    // Read the owner first: cheaper than a durable write.
    let owner = wallets::owner(store, wallet, now).await.map_err(unknowable)?;
    if owner.frozen.is_some() {
        return Err(SignInFailed::Frozen);
    }
    use_nonce(app, signed_in, now).await?;
    if !is_payer {
        // The owner's home may be another node.
        let balances = app.ledger.balances_anywhere(owner.id).await.map_err(unknowable)?;
        if can_consume(balances.total()) {
            app.wallets.payers.insert(wallet, now);
        }
    }
    Ok(Arc::new(Holder { proof: Proof::Wallet(wallet), owner }))
}

/// True if the wallet that a sign-in claims to be, not verified yet, is known to have a balance.
fn is_known_payer(app: &App, sign_in: &SignIn, now: Timestamp) -> bool {
    let named = WalletAddress::parse(&sign_in.address);
    named.is_some_and(|wallet| app.wallets.payers.contains(wallet, now))
}

/// Counts against an address, before any costlier work.
async fn admit(
    app: &App,
    arrival: &Arrival<'_>,
    what: &'static str,
    a_minute: u64,
) -> Result<(), SignInFailed> {
    let subject = Subject::new(arrival.address, what);
    let allowed = Allowed { requests: a_minute, tokens: None };
    let admitted = app.admit_stranger(subject, allowed, arrival.now).await;
    admitted.map(drop).map_err(|exceeded| SignInFailed::TooMany(standing::too_fast(&exceeded)))
}

/// Uses up a nonce. The store decides; recently used nonces are refused from memory.
async fn use_nonce(app: &App, signed_in: SignedIn, now: Timestamp) -> Result<(), SignInFailed> {
    let SignedIn { wallet, nonce, remember_nonce_until: until, .. } = signed_in;
    let replays = &app.wallets.replays;
    let known = (wallet, nonce.clone());
    if replays.knows(&known) {
        return Err(SignInRefusal::NonceReused.into());
    }
    match wallets::use_nonce(app.store.as_ref(), wallet, nonce, until).await {
        Ok(()) => {
            replays.note(known, until, now);
            Ok(())
        }
        Err(NonceRefused::Reused) => {
            replays.note(known, until, now);
            Err(SignInRefusal::NonceReused.into())
        }
        Err(NonceRefused::Unknowable(error)) => Err(unknowable(error)),
    }
}

fn unknowable(cause: impl Into<BoxError>) -> SignInFailed {
    SignInFailed::Unknowable(cause.into())
}

/// True if the contract wallet confirms the signature. Always false without a chain node.
pub(crate) async fn is_confirmed(app: &App, check: &ContractCheck) -> Result<bool, TopUpRefused> {
    match &app.wallets.payments {
        Some(payments) => payments.contract_confirms(check).await,
        None => Ok(false),
    }
}

/// The value of the first header present; None if it was sent twice.
fn header(headers: &HeaderMap) -> Option<&[u8]> {
    let name = HEADERS.iter().find(|name| headers.contains_key(*name))?;
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { Some(value.as_bytes()) }
}
