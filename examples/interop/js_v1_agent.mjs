// An agent on @a2a-js/sdk 1.x: `node js_v1_agent.mjs --host H --port P --card-url URL [--peer URL …]`.

import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';

const packages = createRequire(`${process.env.NODE_PACKAGES}/`);
const express = packages('express');
const { AgentCard, Message, SendMessageRequest } = packages('@a2a-js/sdk');
const { ClientFactory } = packages('@a2a-js/sdk/client');
const { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } = packages('@a2a-js/sdk/server');
const { agentCardHandler, jsonRpcHandler, UserBuilder } = packages('@a2a-js/sdk/server/express');

const options = { host: { type: 'string' }, port: { type: 'string' }, 'card-url': { type: 'string' } };
const { values } = parseArgs({ options: { ...options, peer: { type: 'string', multiple: true, default: [] }, word: { type: 'string', default: 'heron' } } });

const card = AgentCard.fromJSON({
  name: 'words',
  description: 'Knows a word, or asks its peers for theirs.',
  version: '1',
  supportedInterfaces: [{ url: values['card-url'], protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  skills: [{ id: 'words', name: 'Words', description: 'Knows a word.', tags: ['sample'] }],
  capabilities: { streaming: true },
  defaultInputModes: ['text'],
  defaultOutputModes: ['text'],
});

function message(role, text, contextId) {
  return Message.fromJSON({ messageId: randomUUID(), role, parts: [{ text }], contextId });
}

async function ask(peer) {
  const client = await new ClientFactory().createFromUrl(peer);
  const request = SendMessageRequest.fromJSON({ message: Message.toJSON(message('ROLE_USER', 'What do you know?')) });
  return JSON.stringify(await client.sendMessage(request));
}

const words = {
  async execute(context, bus) {
    const heard = await Promise.all(values.peer.map(ask));
    const known = heard.filter((text) => text.includes('heron')).length;
    const told = known ? `I asked ${heard.length}, and ${known} said: the word is heron.` : 'Nobody knows the word.';
    const text = heard.length ? told : `The word is ${values.word}.`;
    bus.publish(AgentEvent.message(message('ROLE_AGENT', text, context.contextId)));
    bus.finished();
  },
  cancelTask: async () => {},
};

const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), words);
const app = express();
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
app.use('/', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
app.listen(Number(values.port), values.host);
