//! One declaration per endpoint: the route, its operation in the OpenAPI document and its limit.
//!
//! The credential, the input, the reply and the refusals are not declared: they are read from the
//! handler's signature, so that the document cannot disagree with the code.

use std::future::Future;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use domain::limits::tiers::LimitClass;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use schemars::SchemaGenerator;
use serde_json::{Value, json};

use crate::app::Shared;
use crate::call::{self, Call, Limit, Policy};
use crate::caller::Credential;
use crate::home::Home;
use crate::input::Input;
use crate::openapi;
use crate::operation::Operation;
use crate::refusal::Refusal;
use crate::reply::Reply;

pub struct Endpoint {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) route: MethodRouter<Shared>,
    operation_id: &'static str,
    tag: &'static str,
    summary: &'static str,
    is_experimental: bool,
    policy: Policy,
    refusals: Vec<(u16, &'static str)>,
    describe: fn(&mut Operation, &mut SchemaGenerator),
}

/// An endpoint under construction; [`Draft::build`] creates its route.
pub struct Draft<H> {
    method: Method,
    path: &'static str,
    handler: H,
    limit: Limit,
    usual_class: LimitClass,
    home: Home,
    tag: &'static str,
    summary: &'static str,
    is_experimental: bool,
    refusals: Vec<(u16, &'static str)>,
}

impl<H> Draft<H> {
    pub fn get(path: &'static str, handler: H) -> Draft<H> {
        Draft::new(Method::GET, path, handler)
    }

    pub fn post(path: &'static str, handler: H) -> Draft<H> {
        Draft::new(Method::POST, path, handler)
    }

    pub fn patch(path: &'static str, handler: H) -> Draft<H> {
        Draft::new(Method::PATCH, path, handler)
    }

    pub fn delete(path: &'static str, handler: H) -> Draft<H> {
        Draft::new(Method::DELETE, path, handler)
    }

    pub fn tag(mut self, tag: &'static str) -> Draft<H> {
        self.tag = tag;
        self
    }

    pub fn summary(mut self, summary: &'static str) -> Draft<H> {
        self.summary = summary;
        self
    }

    pub fn limit(mut self, limit: LimitClass) -> Draft<H> {
        self.limit = Limit::Class(limit);
        self
    }

    /// The handler counts requests against the model that the request names.
    pub fn limited_by_model(mut self) -> Draft<H> {
        self.limit = Limit::ByModel;
        self
    }

    /// For paid work of a model: counted against the model, with the refusals common to such work.
    pub fn paid(self) -> Draft<H> {
        self.limited_by_model()
            .refuses(403, "The model is not for the caller's country, or not for its key")
            .refuses(404, "There is no such model; the message names the nearest")
            .refuses(410, "The model was removed and nothing answers in its place")
            .refuses(422, "The content is against the policy of the model's provider")
            .refuses(504, "The model took too long")
    }

    /// The handler counts requests against its own limits.
    pub fn limited_by_itself(mut self) -> Draft<H> {
        self.limit = Limit::ByHandler;
        self
    }

    /// The class whose limits the headers show if the request names an unknown model.
    pub fn usually(mut self, class: LimitClass) -> Draft<H> {
        self.usual_class = class;
        self
    }

    /// The node that handles requests. Default: the caller's home.
    pub fn home(mut self, home: Home) -> Draft<H> {
        self.home = home;
        self
    }

    /// Marks the endpoint as one that may change without notice.
    pub fn experimental(mut self) -> Draft<H> {
        self.is_experimental = true;
        self
    }

    /// Declares a refusal that is not visible in the handler's signature.
    pub fn refuses(mut self, status: u16, meaning: &'static str) -> Draft<H> {
        self.refusals.push((status, meaning));
        self
    }

    pub fn build<C, I, R, E, F>(self) -> Endpoint
    where
        C: Credential,
        I: Input,
        R: Reply + 'static,
        E: From<Refusal> + IntoResponse + 'static,
        H: Fn(Shared, Call<C, I>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<R, E>> + Send + 'static,
    {
        let usual_class = match self.limit {
            Limit::Class(class) => class,
            Limit::ByModel | Limit::ByHandler => self.usual_class,
        };
        let policy = Policy { limit: self.limit, usual_class, home: self.home, path: self.path };
        let handler = self.handler;
        let serve = move |app, request| {
            call::run::<C, I, R, E, H, F>(app, policy, request, handler.clone()).boxed()
        };
        Endpoint {
            route: route(&self.method, Arc::new(serve)),
            operation_id: function_name::<H>(),
            method: self.method,
            path: self.path,
            tag: self.tag,
            summary: self.summary,
            is_experimental: self.is_experimental,
            policy,
            refusals: self.refusals,
            describe: describe::<C, I, R>,
        }
    }

    fn new(method: Method, path: &'static str, handler: H) -> Draft<H> {
        Draft {
            method,
            path,
            handler,
            limit: Limit::Class(LimitClass::General),
            usual_class: LimitClass::General,
            home: Home::OfCaller,
            tag: "",
            summary: "",
            is_experimental: false,
            refusals: Vec::new(),
        }
    }
}

/// A type-erased handler, so that the code around it is compiled once.
type Serve = Arc<dyn Fn(Shared, Request) -> BoxFuture<'static, Response> + Send + Sync>;

fn route(method: &Method, serve: Serve) -> MethodRouter<Shared> {
    let filter = MethodFilter::try_from(method.clone())
        .expect("endpoints use methods that routes can be filtered by");
    on(filter, move |State(app): State<Shared>, request: Request| serve(app, request))
}

impl Endpoint {
    /// The operation in the OpenAPI document.
    pub(crate) fn operation(&self, generator: &mut SchemaGenerator) -> Value {
        let mut operation = Operation::default();
        (self.describe)(&mut operation, generator);
        for (status, meaning) in &self.refusals {
            operation.standard_refusal(*status, meaning, generator);
        }
        operation.standard_refusal(429, "Too many requests, or too many failed ones", generator);
        operation.standard_refusal(500, "A fault of the service", generator);
        operation.standard_refusal(503, "Temporarily unavailable", generator);
        let limit = match self.policy.limit {
            Limit::Class(class) => format!("{class:?}"),
            Limit::ByModel => "ByModel".to_owned(),
            Limit::ByHandler => "ByHandler".to_owned(),
        };
        let mut value = json!({
            "operationId": self.operation_id,
            "tags": [self.tag],
            "summary": self.summary,
            "x-limit-class": limit,
        });
        if self.is_experimental {
            value["x-experimental"] = json!(true);
        }
        operation.write_into(&mut value);
        openapi::headers::add_headers(&mut value, self.policy.limit == Limit::ByModel);
        value
    }
}

fn describe<C: Credential, I: Input, R: Reply>(
    operation: &mut Operation,
    generator: &mut SchemaGenerator,
) {
    C::describe(operation, generator);
    I::describe(operation, generator);
    R::describe(operation, generator);
}

/// The name of the handler function, used as the operation's id.
fn function_name<H>() -> &'static str {
    let path = std::any::type_name::<H>();
    path.rsplit("::").next().unwrap_or(path)
}
