import { total } from './total.js';

const count = (prices) => prices.length;
const summary = (prices, discount = 0) => ({ count: count(prices), total: total(prices, discount) });

export { count, summary, total };
