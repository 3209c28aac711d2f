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
use wire::mcp::McpErrorReply;
use wire::messages::MessagesError;

use crate::app::SharedApp;
use crate::call::{self, ApiCall, EndpointLimit, EndpointPolicy};
use crate::caller::RequiredCredential;
use crate::home::HomeOwner;
use crate::inner_call::InnerEndpoint;
use crate::input::HandlerInput;
use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;
use crate::reply::HandlerReply;

pub struct ApiEndpoint {
    pub method: Method,
    pub path: &'static str,
    pub route: MethodRouter<SharedApp>,
    operation_id: &'static str,
    tag: &'static str,
    summary: &'static str,
    is_experimental: bool,
    policy: EndpointPolicy,
    refusals: Vec<(u16, &'static str)>,
    describe: fn(&mut OpenApiOperation, &mut SchemaGenerator),
}

/// An endpoint under construction; [`EndpointBuilder::build`] creates its route.
pub struct EndpointBuilder<H> {
    method: Method,
    path: &'static str,
    handler: H,
    limit: EndpointLimit,
    usual_class: LimitClass,
    home: HomeOwner,
    tag: &'static str,
    summary: &'static str,
    is_experimental: bool,
    counts_failures: bool,
    refusals: Vec<(u16, &'static str)>,
}

impl<H> EndpointBuilder<H> {
    pub fn get(path: &'static str, handler: H) -> EndpointBuilder<H> {
        EndpointBuilder::new(Method::GET, path, handler)
    }

    pub fn post(path: &'static str, handler: H) -> EndpointBuilder<H> {
        EndpointBuilder::new(Method::POST, path, handler)
    }

    pub fn patch(path: &'static str, handler: H) -> EndpointBuilder<H> {
        EndpointBuilder::new(Method::PATCH, path, handler)
    }

    pub fn delete(path: &'static str, handler: H) -> EndpointBuilder<H> {
        EndpointBuilder::new(Method::DELETE, path, handler)
    }

    pub fn tag(mut self, tag: &'static str) -> EndpointBuilder<H> {
        self.tag = tag;
        self
    }

    pub fn summary(mut self, summary: &'static str) -> EndpointBuilder<H> {
        self.summary = summary;
        self
    }

    pub fn limit(mut self, limit: LimitClass) -> EndpointBuilder<H> {
        self.limit = EndpointLimit::Class(limit);
        self
    }

    /// The handler counts requests against the model that the request names.
    pub fn limited_by_model(mut self) -> EndpointBuilder<H> {
        self.limit = EndpointLimit::ByModel;
        self
    }

    /// For paid work of a model: counted against the model, with the refusals common to such work.
    pub fn paid(self) -> EndpointBuilder<H> {
        self.limited_by_model()
            .refuses(403, "The model is not available in the caller's country, or to its key")
            .refuses(404, "The model does not exist; the message lists similar names")
            .refuses(410, "The model was removed and has no replacement")
            .refuses(422, "The content violates the policy of the model's provider")
            .refuses(504, "The model took too long")
    }

    /// The handler counts requests against its own limits.
    pub fn limited_by_handler(mut self) -> EndpointBuilder<H> {
        self.limit = EndpointLimit::ByHandler;
        self
    }

    /// The class whose limits the headers show if the request names an unknown model.
    pub fn usual_class(mut self, class: LimitClass) -> EndpointBuilder<H> {
        self.usual_class = class;
        self
    }

    /// The node that handles requests. Default: the caller's home.
    pub fn home(mut self, home: HomeOwner) -> EndpointBuilder<H> {
        self.home = home;
        self
    }

    /// Marks the endpoint as one that may change without notice.
    pub fn experimental(mut self) -> EndpointBuilder<H> {
        self.is_experimental = true;
        self
    }

    /// Refusals of callers with a credential never count towards the block after too many failures.
    pub fn failures_uncounted(mut self) -> EndpointBuilder<H> {
        self.counts_failures = false;
        self
    }

    /// Declares a refusal that is not visible in the handler's signature.
    pub fn refuses(mut self, status: u16, meaning: &'static str) -> EndpointBuilder<H> {
        self.refusals.push((status, meaning));
        self
    }

    pub fn build<C, I, R, E, F>(self) -> ApiEndpoint
    where
        C: RequiredCredential,
        I: HandlerInput,
        R: HandlerReply + 'static,
        E: From<Refusal> + IntoResponse + 'static,
        H: Fn(SharedApp, ApiCall<C, I>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<R, E>> + Send + 'static,
    {
        let usual_class = match self.limit {
            EndpointLimit::Class(class) => class,
            EndpointLimit::ByModel | EndpointLimit::ByHandler => self.usual_class,
        };
        let policy = EndpointPolicy {
            limit: self.limit,
            usual_class,
            home: self.home,
            path: self.path,
            counts_failures: self.counts_failures,
        };
        let handler = self.handler;
        let serve: ErasedHandler = Arc::new(move |app, request| {
            call::run_call::<C, I, R, E, H, F>(app, policy, request, handler.clone()).boxed()
        });
        ApiEndpoint {
            route: build_route(&self.method, serve),
            operation_id: function_name::<H>(),
            method: self.method,
            path: self.path,
            tag: self.tag,
            summary: self.summary,
            is_experimental: self.is_experimental,
            policy,
            refusals: self.refusals,
            describe: describe_endpoint::<C, I, R>,
        }
    }

    fn new(method: Method, path: &'static str, handler: H) -> EndpointBuilder<H> {
        EndpointBuilder {
            method,
            path,
            handler,
            limit: EndpointLimit::Class(LimitClass::General),
            usual_class: LimitClass::General,
            home: HomeOwner::OfCaller,
            tag: "",
            summary: "",
            is_experimental: false,
            counts_failures: true,
            refusals: Vec::new(),
        }
    }
}

/// A type-erased handler, so that the code around it is compiled once.
type ErasedHandler = Arc<dyn Fn(SharedApp, Request) -> BoxFuture<'static, Response> + Send + Sync>;

fn build_route(method: &Method, serve: ErasedHandler) -> MethodRouter<SharedApp> {
    let filter = MethodFilter::try_from(method.clone())
        .expect("endpoints use methods that routes can be filtered by");
    on(filter, move |State(app): State<SharedApp>, request: Request| serve(app, request))
}

impl ApiEndpoint {
    /// The endpoint as another endpoint calls it.
    pub fn to_inner(&self) -> InnerEndpoint {
        InnerEndpoint::new(self.method.clone(), self.path, self.route.clone())
    }

    /// True if requests are counted against the model that they name.
    pub fn is_limited_by_model(&self) -> bool {
        self.policy.limit == EndpointLimit::ByModel
    }

    /// The operation in the OpenAPI document, without its response headers.
    pub fn build_operation(&self, generator: &mut SchemaGenerator) -> Value {
        let mut operation = OpenApiOperation::default();
        (self.describe)(&mut operation, generator);
        for (status, meaning) in &self.refusals {
            operation.standard_refusal(*status, meaning, generator);
        }
        operation.standard_refusal(
            429,
            "Too many requests, or too many failed requests",
            generator,
        );
        operation.standard_refusal(500, "Internal error", generator);
        operation.standard_refusal(503, "Temporarily unavailable", generator);
        if self.path.starts_with("/messages") {
            operation.replace_refusals::<MessagesError>(generator);
        }
        if self.path == "/mcp" {
            operation.add_refusal_shape::<McpErrorReply>(generator);
        }
        if self.path.starts_with("/models") {
            operation.add_refusal_shape::<MessagesError>(generator);
        }
        let limit = match self.policy.limit {
            EndpointLimit::Class(class) => format!("{class:?}"),
            EndpointLimit::ByModel => "ByModel".to_owned(),
            EndpointLimit::ByHandler => "ByHandler".to_owned(),
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
        value
    }
}

fn describe_endpoint<C: RequiredCredential, I: HandlerInput, R: HandlerReply>(
    operation: &mut OpenApiOperation,
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
