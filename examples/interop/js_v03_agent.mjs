// An agent on @a2a-js/sdk 0.3: `node js_v03_agent.mjs --host H --port P --card-url URL [--peer URL …]`.

import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';

const packages = createRequire(`${process.env.NODE_PACKAGES}/`);
const express = packages('express');
const { ClientFactory } = packages('@a2a-js/sdk/client');
const { DefaultRequestHandler, InMemoryTaskStore } = packages('@a2a-js/sdk/server');
const { agentCardHandler, jsonRpcHandler, UserBuilder } = packages('@a2a-js/sdk/server/express');

const options = { host: { type: 'string' }, port: { type: 'string' }, 'card-url': { type: 'string' } };
const { values } = parseArgs({ options: { ...options, peer: { type: 'string', multiple: true, default: [] }, word: { type: 'string', default: 'heron' } } });

const card = {
  name: 'words',
  description: 'Knows a word, or asks its peers for theirs.',
  protocolVersion: '0.3.0',
  version: '1',
  url: values['card-url'],
  skills: [{ id: 'words', name: 'Words', description: 'Knows a word.', tags: ['sample'] }],
  capabilities: { streaming: true },
  defaultInputModes: ['text'],
  defaultOutputModes: ['text'],
};

async function ask(peer) {
  const client = await new ClientFactory().createFromUrl(peer);
  const parts = [{ kind: 'text', text: 'What do you know?' }];
  return JSON.stringify(await client.sendMessage({ message: { kind: 'message', messageId: randomUUID(), role: 'user', parts } }));
}

const words = {
  async execute(context, bus) {
    const heard = await Promise.all(values.peer.map(ask));
    const known = heard.filter((text) => text.includes('heron')).length;
    const told = known ? `I asked ${heard.length}, and ${known} said: the word is heron.` : 'Nobody knows the word.';
    const text = heard.length ? told : `The word is ${values.word}.`;
    const parts = [{ kind: 'text', text }];
    bus.publish({ kind: 'message', messageId: randomUUID(), role: 'agent', parts, contextId: context.contextId });
    bus.finished();
  },
  cancelTask: async () => {},
};

const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), words);
const app = express();
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
app.use('/', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
app.listen(Number(values.port), values.host);
