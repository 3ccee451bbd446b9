//! What things are called, in a template and in a module of Terraform.

/// The words of one way to declare the services.
#[derive(Debug)]
pub(super) struct Words {
    /// The id of the system.
    pub(super) system: &'static str,
    /// What the whole is.
    pub(super) whole: &'static str,
    /// How a setting is written between its key and its value.
    pub(super) sets: &'static str,
    /// Of a queue.
    pub(super) redrive_policy: &'static str,
    /// How to give a queue one.
    pub(super) queue_advice: &'static str,
    /// How to give a subscription one.
    pub(super) subscription_advice: &'static str,
    /// Of a subscription.
    pub(super) delivery_policy: &'static str,
    /// Of a target.
    pub(super) retry_policy: &'static str,
    /// How to keep what a target does not take.
    pub(super) target_advice: &'static str,
    /// How to hand over once.
    pub(super) hand_over_once: &'static str,
    /// Of a function or an event source.
    pub(super) attempts: &'static str,
    /// How to keep what a function gives up.
    pub(super) function_advice: &'static str,
    /// How to run it once.
    pub(super) run_once: &'static str,
    /// How to keep what a consumer of a stream gives up.
    pub(super) source_advice: &'static str,
}

/// CloudFormation, SAM and the Serverless Framework.
pub(super) static TEMPLATE: Words = Words {
    system: "cloudformation",
    whole: "template",
    sets: ": ",
    redrive_policy: "`RedrivePolicy`",
    queue_advice: "a `RedrivePolicy` with `deadLetterTargetArn` and `maxReceiveCount`",
    subscription_advice: "a `RedrivePolicy` with the `deadLetterTargetArn` of an SQS queue on the subscription",
    delivery_policy: "`DeliveryPolicy`",
    retry_policy: "`RetryPolicy`",
    target_advice: "a `DeadLetterConfig` with the `Arn` of an SQS queue on the target",
    hand_over_once: "`RetryPolicy: {MaximumRetryAttempts: 0}`",
    attempts: "`MaximumRetryAttempts`",
    function_advice: "an `OnFailure` destination in the function's `EventInvokeConfig`",
    run_once: "`EventInvokeConfig: {MaximumRetryAttempts: 0}`",
    source_advice: "`DestinationConfig: {OnFailure: {Destination: ...}}` on the event source, with `MaximumRetryAttempts`",
};

/// Terraform.
pub(super) static MODULE: Words = Words {
    system: "terraform-aws-messaging",
    whole: "module",
    sets: " = ",
    redrive_policy: "`redrive_policy`",
    queue_advice: "a `redrive_policy` with `deadLetterTargetArn` and `maxReceiveCount`",
    subscription_advice: "a `redrive_policy` with the `deadLetterTargetArn` of an SQS queue on the subscription",
    delivery_policy: "`delivery_policy`",
    retry_policy: "`retry_policy`",
    target_advice: "a `dead_letter_config` with the `arn` of an SQS queue on the target",
    hand_over_once: "`retry_policy { maximum_retry_attempts = 0 }`",
    attempts: "`maximum_retry_attempts`",
    function_advice: "an `on_failure` destination in an `aws_lambda_function_event_invoke_config` of the function",
    run_once: "`maximum_retry_attempts = 0` in an `aws_lambda_function_event_invoke_config` of the function",
    source_advice: "`destination_config { on_failure { destination_arn = ... } }` on the event source, with \
                    `maximum_retry_attempts`",
};
