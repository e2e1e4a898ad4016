/** The baseline of reads: a Koa server with one route, one indexed select, and a database pool like the product's. */
import Router from '@koa/router';
import Koa from 'koa';
import { openDatabase } from '#lib/database/index.ts';

const database = openDatabase({
  url: process.env['DATABASE_URL'] ?? '',
  poolSize: 10,
  applicationName: 'bare',
});
const router = new Router();
router.get('/routines/:id', async (ctx) => {
  ctx.body = {
    data: await database.row`select * from routines where id = ${ctx.params['id']}`,
  };
});
new Koa({ env: 'production' }).use(router.routes()).listen(Number(process.env['PORT']), '127.0.0.1');
