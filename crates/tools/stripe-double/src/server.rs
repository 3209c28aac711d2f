//! The server: the API, the payment page, the control routes, and a thread that delivers webhooks.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::json;
use url::Url;

use crate::actions::PaymentMethodKind;
use crate::double::{DoubleSettings, StripeDouble, text};
use crate::http::{self, HttpRequest, HttpResponse, serve_connection};
use crate::random::DoubleRandom;
use crate::request::{DoubleRequest, FormFields};
use crate::webhook::{DeliveryPlan, WebhookDelivery, sign_webhook};

/// Pause between two rounds of deliveries.
const DELIVERY_PAUSE: Duration = Duration::from_millis(50);
/// Attempts to deliver an event that its receiver does not accept.
const ATTEMPTS_MAX: u32 = 100;

/// Returns the seconds since 1970.
pub type UnixClock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// A running server. Dropping it closes its listener.
pub struct DoubleServer {
    address: SocketAddr,
    shared: Arc<ServerState>,
}

struct ServerState {
    double: Mutex<StripeDouble>,
    endpoint: Mutex<Option<WebhookEndpoint>>,
    clock: UnixClock,
    is_stopped: AtomicBool,
}

/// The receiver of webhooks.
struct WebhookEndpoint {
    url: Url,
    secret: String,
    plan: DeliveryPlan,
    random: DoubleRandom,
}

struct PendingDelivery {
    delivery: WebhookDelivery,
    attempts: u32,
}

impl DoubleServer {
    /// Listens on an address; port 0 takes a free one.
    pub fn start(
        address: &str,
        settings: DoubleSettings,
        clock: UnixClock,
    ) -> io::Result<DoubleServer> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let settings = DoubleSettings { page_url: format!("http://{address}"), ..settings };
        let shared = Arc::new(ServerState {
            double: Mutex::new(StripeDouble::new(settings)),
            endpoint: Mutex::default(),
            clock,
            is_stopped: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || accepting.accept_connections(&listener));
        let delivering = Arc::clone(&shared);
        thread::spawn(move || delivering.deliver_webhooks());
        Ok(DoubleServer { address, shared })
    }

    /// The address of the API, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Runs an action on the state.
    pub fn with<T>(&self, action: impl FnOnce(&mut StripeDouble) -> T) -> T {
        action(&mut self.shared.lock_double())
    }
}

impl Drop for DoubleServer {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::SeqCst);
        // Wakes the accepting thread.
        drop(TcpStream::connect(self.address));
    }
}

impl ServerState {
    /// The state, at the current time.
    fn lock_double(&self) -> MutexGuard<'_, StripeDouble> {
        let mut double = self.double.lock().unwrap_or_else(PoisonError::into_inner);
        double.set_time((self.clock)());
        double
    }

    fn accept_connections(self: &Arc<ServerState>, listener: &TcpListener) {
        for stream in listener.incoming() {
            if self.is_stopped.load(Ordering::SeqCst) {
                return;
            }
            let Ok(stream) = stream else { continue };
            let serving = Arc::clone(self);
            // A client that breaks its connection is no fault of the double.
            thread::spawn(move || serve_connection(stream, |request| serving.answer(request)).ok());
        }
    }

    fn answer(&self, request: &HttpRequest) -> HttpResponse {
        let (path, _) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let form = FormFields::parse(&request.body);
        if let Some(session) = path.strip_prefix("/pay/") {
            return self.show_payment_page(&request.method, session);
        }
        match path.strip_prefix("/_double/") {
            Some("webhooks") => self.set_endpoint(&form),
            Some(action) => self.lock_double().control(action, &form),
            None => self.answer_call(request),
        }
    }

    fn answer_call(&self, request: &HttpRequest) -> HttpResponse {
        let header = |name| request.header(name).map(str::to_owned);
        let call = DoubleRequest {
            authorization: header("authorization"),
            version: header("stripe-version"),
            idempotency_key: header("idempotency-key"),
            ..DoubleRequest::new(&request.method, &request.path, Some(&request.body))
        };
        let answer = self.lock_double().answer(&call);
        let mut response = HttpResponse::json(answer.status, &answer.body);
        if answer.is_replayed {
            response.headers.push(("Idempotent-Replayed", "true".to_owned()));
        }
        response
    }

    /// The page on which a person pays: one button.
    fn show_payment_page(&self, method: &str, session: &str) -> HttpResponse {
        let mut double = self.lock_double();
        let Some(found) = double.object(session) else {
            return HttpResponse::json(404, &json!({"fault": "no such page"}));
        };
        let success_url = text(found, "success_url").to_owned();
        if method == "POST" {
            return match double.pay_session(session, PaymentMethodKind::Card) {
                Ok(_) => HttpResponse {
                    status: 303,
                    headers: vec![("Location", success_url)],
                    body: Vec::new(),
                },
                Err(fault) => HttpResponse::json(409, &json!({ "fault": fault.0 })),
            };
        }
        let page = "<!doctype html><title>Pay</title><form method=post><button>Pay</button></form>";
        let headers = vec![("Content-Type", "text/html; charset=utf-8".to_owned())];
        HttpResponse { status: 200, headers, body: page.into() }
    }

    /// Sets the receiver of webhooks: `url`, `secret`, `lost_percent`, `repeated_percent`, `shuffled`,
    /// `seed`.
    fn set_endpoint(&self, form: &FormFields) -> HttpResponse {
        let url = form.get("url").and_then(|url| Url::parse(url).ok());
        let (Some(url), Some(secret)) = (url, form.get("secret")) else {
            return HttpResponse::json(400, &json!({"fault": "a url and a secret are needed"}));
        };
        let percent =
            |name| form.integer(name).and_then(|it| u8::try_from(it).ok()).unwrap_or_default();
        let plan = DeliveryPlan {
            lost_percent: percent("lost_percent"),
            repeated_percent: percent("repeated_percent"),
            is_shuffled: form.is_true("shuffled"),
        };
        let seed = form.integer("seed").unwrap_or_default().cast_unsigned();
        let (secret, random) = (secret.to_owned(), DoubleRandom::new(seed));
        *self.lock_endpoint() = Some(WebhookEndpoint { url, secret, plan, random });
        HttpResponse::json(200, &json!({}))
    }

    fn lock_endpoint(&self) -> MutexGuard<'_, Option<WebhookEndpoint>> {
        self.endpoint.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Delivers events, again and again until they are accepted.
    fn deliver_webhooks(&self) {
        let mut pending: Vec<PendingDelivery> = Vec::new();
        while !self.is_stopped.load(Ordering::SeqCst) {
            thread::sleep(DELIVERY_PAUSE);
            let target = self.lock_endpoint().as_mut().map(|endpoint| {
                let new = self.lock_double().take_deliveries();
                let new = endpoint.plan.apply(new, &mut endpoint.random);
                pending.extend(
                    new.into_iter().map(|delivery| PendingDelivery { delivery, attempts: 0 }),
                );
                (endpoint.url.clone(), endpoint.secret.clone())
            });
            let Some((url, secret)) = target else { continue };
            pending.retain_mut(|it| {
                it.attempts += 1;
                let is_accepted = self.deliver(&url, &secret, &it.delivery);
                !is_accepted && it.attempts < ATTEMPTS_MAX
            });
        }
    }

    fn deliver(&self, url: &Url, secret: &str, delivery: &WebhookDelivery) -> bool {
        let body = delivery.body.as_bytes();
        let headers = [
            ("Content-Type", "application/json".to_owned()),
            ("Stripe-Signature", sign_webhook(secret, (self.clock)(), body)),
        ];
        http::post(url, &headers, body).is_ok_and(|status| (200..300).contains(&status))
    }
}
