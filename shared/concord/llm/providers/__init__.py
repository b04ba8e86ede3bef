"""The providers of language models, each by its own library, which is imported when it is first needed."""

from importlib.util import find_spec

from concord.llm.completion import LLMSettings, LLMUnavailableError, Provider, ProviderName

_PACKAGES: dict[ProviderName, str] = {"openai": "openai", "anthropic": "anthropic", "google": "google.genai"}
"""The package that a provider needs. The extra that installs it has the provider's name."""


def check_installed(provider: ProviderName) -> None:
    """Raises LLMUnavailableError if the provider's library is not installed."""
    package = _PACKAGES[provider]
    try:
        installed = find_spec(package) is not None
    except ModuleNotFoundError:  # the parent of a package in a namespace
        installed = False
    if not installed:
        raise LLMUnavailableError(
            f"the provider {provider} needs the package {package}: pip install 'concord-agents[{provider}]'"
        )


def connect(settings: LLMSettings, api_key: str, max_retries: int) -> Provider:
    """A connection to the settings' provider. Raises LLMUnavailableError if its library is not installed."""
    check_installed(settings.provider)
    # The imports take most of a second, and few processes need them.
    if settings.provider == "anthropic":
        from concord.llm.providers.anthropic import AnthropicProvider

        return AnthropicProvider(settings, api_key, max_retries)
    if settings.provider == "google":
        from concord.llm.providers.google import GoogleProvider

        return GoogleProvider(settings, api_key, max_retries)
    from concord.llm.providers.openai import OpenAIProvider

    return OpenAIProvider(settings, api_key, max_retries)
